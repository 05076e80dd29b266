import { expect, it, jest } from '@jest/globals';
import {
  memoryDeadLetters,
  memoryStore,
  type HandlerContext,
  type QueuedDelivery,
  type SecretProvider,
} from '../../src/index.ts';
import { deadLetterId, type Claim } from '../../src/stores.ts';
import { createTestReceiver, RECORDING, SECRET, STARTED } from '../support.ts';

/** Everything here is stored somewhere: it must stay as it is, byte for byte. */

it('a store without tenants is asked for the keys of before', async () => {
  const inner = memoryStore();
  const asked: unknown[][] = [];
  const { send, receiver } = createTestReceiver({
    store: {
      ...inner,
      admit: (claim: Claim) => {
        const { token: _random, replayUntil: _clock, ...rest } = claim;
        asked.push(['admit', rest]);
        return inner.admit(claim);
      },
      complete: (key, token) => {
        asked.push(['complete', key]);
        return inner.complete(key, token);
      },
    },
    on: { 'call:started': () => undefined, 'call:recording-available': () => undefined },
    custom: { key: () => 'tenant:a:b', handle: () => undefined },
    oneAtATime: ({ callId }) => callId,
  });
  await send(STARTED, { webhookId: 'id-1' });
  await send(RECORDING, { webhookId: 'id-2' });
  await send({ any: 'thing' }, { webhookId: 'id-3' });
  await receiver.deliver({ eventName: 'call:started', callId: 'a:b%' });
  const claim = (webhookId: unknown, key: string, group?: string) => [
    ['admit', { webhookId, leaseMs: 60_000, key, group }],
    ['complete', key],
  ];
  expect(asked).toEqual([
    ...claim('id-1', 'call-1:call:started', 'call-1'),
    ...claim('id-2', 'call-1:recording-available', 'call-1'),
    ...claim('id-3', 'custom:tenant:a:b'),
    ...claim(expect.stringMatching(/^redrive\.[^:]+$/), 'a%3Ab%25:call:started', 'a:b%'),
  ]);
});

it('what a queue, the dead letters, a provider and a handler get has no tenant', async () => {
  const queued: QueuedDelivery[] = [];
  const provider = jest.fn<SecretProvider>(() => SECRET);
  const enqueue = (delivery: QueuedDelivery) => Promise.resolve(void queued.push(delivery));
  const withQueue = createTestReceiver({ secret: provider, queue: { enqueue } });
  await withQueue.send(STARTED, { webhookId: 'id' });
  expect(queued.map((delivery) => Object.keys(delivery))).toEqual([
    ['webhookId', 'timestamp', 'receivedAt', 'key', 'eventName', 'body'],
  ]);
  expect(provider.mock.calls).toEqual([[{ webhookId: 'id', refresh: false }]]);
  expect(Object.keys(withQueue.outcomes[0]!)).not.toContain('tenant');

  const deadLetter = memoryDeadLetters();
  let context: HandlerContext | undefined;
  const failing = createTestReceiver({
    deadLetter,
    maxAttempts: 1,
    on: {
      'call:started': (_event: unknown, given: HandlerContext) => {
        context = { ...given };
        throw new Error('down');
      },
    },
  });
  await failing.send(STARTED);
  const { letters } = await deadLetter.list();
  expect(Object.keys(letters[0]!)).not.toContain('tenant');
  expect(Object.keys(context!)).not.toContain('tenant');
});

it('the ids of dead letters are those of before', async () => {
  expect(await deadLetterId({ webhookId: 'id' })).toBe('8666b6630f4b4ae133e1b544');
  expect(await deadLetterId({ webhookId: 'id', key: 'k' })).toBe('a7d514f66aeb5673fbfaa8f4');
});
