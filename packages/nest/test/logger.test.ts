import { afterEach, expect, it } from '@jest/globals';
import { Logger, type INestApplication } from '@nestjs/common';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import type { HandlerContext } from '@call-webhooks/core';
import { secret } from './app-module.ts';
import { moduleWith } from './module-with.ts';
import { createApp, PLATFORMS } from './platforms.ts';

let app: INestApplication | undefined;
afterEach(async () => {
  await app?.close();
  Logger.overrideLogger(false);
});

it("lines go to the app's logger, each at its level and with its fields", async () => {
  const lines: unknown[][] = [];
  const method =
    (level: string) =>
    (line: unknown, ...more: unknown[]) => {
      if (more.includes('CallWebhooks')) lines.push([level, line]);
    };
  const log = (_event: unknown, context: HandlerContext) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      context.log[level]({ rows: 3 }, `from ${level}`);
  };
  app = await createApp(moduleWith({ secret, on: { 'call:completed': log } }), PLATFORMS[0][1]);
  Logger.overrideLogger({
    ...{ log: method('log'), debug: method('debug'), verbose: method('verbose') },
    ...{ warn: method('warn'), error: method('error'), fatal: method('fatal') },
  });
  await app.listen(0, '127.0.0.1');
  const sender = startSender(`${await app.getUrl()}/hook`, secret);
  expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
  expect(lines.filter(([, line]) => String(line).startsWith('from '))).toEqual([
    ['debug', expect.stringMatching(/^from debug .*rows=3/)],
    ['log', expect.stringMatching(/^from info .*rows=3/)],
    ['warn', expect.stringMatching(/^from warn .*rows=3/)],
    ['error', expect.stringMatching(/^from error .*rows=3/)],
  ]);
});
