import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, startSender } from '@call-webhooks/testing';

it('starts, takes signed deliveries, parses JSON elsewhere, and ends by itself on SIGTERM', async () => {
  const secret = generateSecret();
  const server = fork(fileURLToPath(new URL('../server.ts', import.meta.url)), {
    env: { ...process.env, CALL_WEBHOOK_SECRET: secret, PORT: '0' },
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    silent: true,
  });
  const ended = once(server, 'exit');
  try {
    const [{ url }] = (await once(server, 'message')) as [{ url: string }];
    const sender = startSender(url, secret);
    expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
    expect((await sender.post(callBody('c1'))).outcome).toBe('duplicate');
    expect((await sender.post(callBody('c1'), { secret: generateSecret() })).status).toBe(401);
    const echo = await fetch(url.replace('/hook', '/echo'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await echo.json()).toEqual({ a: 1 });
  } finally {
    server.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
}, 60_000);
