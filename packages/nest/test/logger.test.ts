import { afterEach, expect, it } from '@jest/globals';
import { Logger, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { callBody, collectingLogger, startSender } from '@call-webhooks/contract-tests';
import type { HandlerContext } from '@call-webhooks/core';
import { secret } from './app-module.ts';
import { moduleWith } from './module-with.ts';
import { createApp, PLATFORMS } from './platforms.ts';

let app: INestApplication | undefined;
afterEach(async () => {
  await app?.close();
  Logger.overrideLogger(false);
});

/** The lines that the logger of the app gets from now on from `CallWebhooks`, each with its level. */
function keepLines(): [level: string, line: unknown][] {
  const lines: [string, unknown][] = [];
  const method =
    (level: string) =>
    (line: unknown, ...more: unknown[]) => {
      if (more.includes('CallWebhooks')) lines.push([level, line]);
    };
  Logger.overrideLogger({
    ...{ log: method('log'), debug: method('debug'), verbose: method('verbose') },
    ...{ warn: method('warn'), error: method('error'), fatal: method('fatal') },
  });
  return lines;
}

it("lines go to the app's logger, each at its level and with its fields", async () => {
  const log = (_event: unknown, context: HandlerContext) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      context.log[level]({ rows: 3 }, `from ${level}`);
  };
  app = await createApp(moduleWith({ secret, on: { 'call:completed': log } }), PLATFORMS[0][1]);
  const lines = keepLines();
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

const nothing = () => undefined;
const none = ['log', 'Mapped {/api/hook, ALL}: no events'];
it.each<[string, Parameters<typeof moduleWith>[0], unknown[]]>([
  [
    'two handlers',
    { on: { 'call:completed': nothing, 'call:started': nothing } },
    [['log', 'Mapped {/api/hook, ALL}: call:completed, call:started']],
  ],
  ['a handler for all other events', { onUnhandled: nothing }, [none]],
  ['a handler of custom payloads', { custom: { handle: nothing } }, [none]],
  [
    'no handler at all',
    {},
    [
      none,
      [
        'warn',
        'No method with @OnCallEvent was found, so every event is ignored. List the class of your handlers among the providers of a module.',
      ],
    ],
  ],
])(
  'at the start with %s, the lines say what is mounted where',
  async (_what, options, expected) => {
    const module = moduleWith({ secret, ...options }, { useGlobalPrefix: true });
    app = await createApp(module, PLATFORMS[0][1]);
    app.setGlobalPrefix('api');
    const lines = keepLines();
    await app.init();
    expect(lines).toEqual(expected);
  },
);

it('a body that was read before Nest got it: 500, and one line with the fix', async () => {
  const server = express().use(express.json());
  const logger = collectingLogger();
  app = await createApp(moduleWith({ secret, logger }), () => new ExpressAdapter(server) as never);
  await app.listen(0, '127.0.0.1');
  const sender = startSender(`${await app.getUrl()}/hook`, secret);
  expect((await sender.post(callBody('c1'))).outcome).toBe('body-already-parsed');
  expect(logger.lines).toEqual([
    expect.stringContaining('Add the parser after NestFactory.create.'),
  ]);
});
