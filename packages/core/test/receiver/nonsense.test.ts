import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ReceiverRequest } from '../../src/index.ts';
import { createTestReceiver, delivery, STARTED } from '../support.ts';

const boom = () => {
  throw new Error('boom');
};
const trap = new Proxy({}, { get: boom, has: boom, ownKeys: boom, getOwnPropertyDescriptor: boom });
const good = await delivery(STARTED);

const NONSENSE: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['a text', 'POST'],
  ['an empty object', {}],
  ['no headers', { ...good, headers: undefined }],
  ['headers that throw', { ...good, headers: trap }],
  ['a request that throws', trap],
  ['a body that throws', Object.defineProperty({ ...good }, 'body', { get: boom })],
  ['a reader that throws', { ...good, body: boom }],
  ['a reader of nothing', { ...good, body: () => undefined }],
  ['no body', { ...good, body: undefined }],
  ['a log that throws', { ...good, log: trap }],
  ['a URL that is none', { ...good, url: 7 }],
  ['a method that is none', { ...good, method: Symbol('POST') }],
];

const channel = tracingChannel('call-webhooks:delivery');
const subscriber = { start: () => undefined } as unknown as Parameters<typeof channel.subscribe>[0];
afterEach(() => {
  channel.unsubscribe(subscriber);
});

describe.each([false, true])('receive(), traced: %s', (isTraced) => {
  it.each(NONSENSE)(
    'answers, and never rejects, whatever it is given: %s',
    async (_what, given) => {
      if (isTraced) channel.subscribe(subscriber);
      for (const options of [{}, { tenant: () => 'acme', secret: () => undefined }]) {
        const { receiver, outcomes } = createTestReceiver(options);
        const { status, outcome } = await receiver.receive(given as ReceiverRequest);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(outcomes).toHaveLength(1);
        expect(outcome.status).toBe(status);
      }
    },
  );
});

it('says what receive() takes', async () => {
  const { receiver, lines } = createTestReceiver();
  expect((await receiver.receive(undefined as unknown as ReceiverRequest)).status).toBe(500);
  expect(lines.join()).toContain('receive() takes { method, headers, body }');
});
