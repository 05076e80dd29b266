import { afterEach, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { generateSecret, sign } from '@call-webhooks/core';

/** What Next would wait for after the response, as `after` gets it in a request. */
const tasks: (() => unknown)[] = [];
jest.unstable_mockModule('next/server.js', () => ({
  after: (task: () => unknown) => void tasks.push(task),
}));
const { callWebhooks } = await import('../src/index.ts');

afterEach(() => void tasks.splice(0));

const secret = generateSecret();
async function delivered(handler: ReturnType<typeof callWebhooks>): Promise<number> {
  const body = callBody('c1');
  const headers = await sign({ secret, body });
  const url = 'http://localhost/hook';
  return (await handler(new Request(url, { method: 'POST', headers, body }))).status;
}

it('a handler that is not done in time is waited for after the response', async () => {
  const go = deferred();
  const handler = callWebhooks({
    ...{ secret, logger: collectingLogger(), ackWithin: 1 },
    on: { 'call:completed': () => go.promise },
  });
  expect(await delivered(handler)).toBe(503);
  expect(tasks).toHaveLength(1);
  let isOver = false;
  const waiting = Promise.resolve(tasks[0]!()).then(() => (isOver = true));
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  go.resolve();
  await waiting;
});

it('nothing is waited for once the handler is done', async () => {
  const handler = callWebhooks({
    secret,
    on: { 'call:completed': () => undefined },
    logger: collectingLogger(),
  });
  expect(await delivered(handler)).toBe(200);
  expect(tasks.map((task) => task())).toEqual([undefined]);
});
