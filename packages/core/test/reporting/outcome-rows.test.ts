import { hostname } from 'node:os';
import { afterEach, expect, it, jest } from '@jest/globals';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTestReceiver, NOW, OTHER_SECRET, SECONDS, SECRET, STARTED } from '../support.ts';

useLateClock();
afterEach(() => void jest.restoreAllMocks());

/** Makes the monotonic clock stand, so that a handler decides how long it takes. */
function standingClock() {
  let now = 5_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  return { pass: (ms: number) => void (now += ms) };
}

it('a batch has whole rows, whole counts and what is known of its process', async () => {
  const clock = standingClock();
  const { store, batches } = loggedStore();
  const { receiver, send } = createTestReceiver({
    ...{ store, version: '2.7.1', ackWithin: 15_000, maxAttempts: 2, now: () => NOW + 250 },
    deadLetter: () => undefined,
    secret: [
      { id: 'blue', secret: SECRET },
      { id: 'green', secret: OTHER_SECRET },
    ],
    on: {
      'call:started': ({ callId }: { callId: string }) => {
        clock.pass(callId === 'call-1' ? 12.36 : 40.04);
        if (callId !== 'call-1') throw new Error('no');
      },
    },
  });
  const failing = { ...STARTED, callId: 'call-2' };
  const signed = { secret: OTHER_SECRET, timestamp: SECONDS - 3 };
  expect([
    await send(STARTED, { webhookId: 'id-1' }),
    await send(failing, { ...signed, webhookId: 'id-2' }),
    await send(failing, { ...signed, webhookId: 'id-3' }),
  ]).toEqual(['handled', 'handler-failed', 'dead-lettered']);
  await receiver.deliver({ ...STARTED, callId: 'call-1' }, { source: 'reconcile' });
  await receiver.close();

  const id = expect.stringMatching(/^[\w+/]+-\w+$/) as unknown as string;
  const of = (callId: string) => ({
    ...{ at: NOW + 250, process: id, eventName: 'call:started' },
    ...{ callId, key: `${callId}:call:started` },
  });
  const failed = {
    ...{ ...of('call-2'), source: 'webhook', durationMs: 40, handlerMs: 40 },
    ...{ lagMs: 3_250, secretId: 'green', error: 'The handler failed: Error: no' },
  };
  const minute = Math.floor(NOW / 60_000);
  const ten = Math.floor(NOW / 600_000);
  expect(batches).toEqual([
    {
      id,
      process: {
        ...{ id, host: hostname(), pid: process.pid, startedAt: NOW + 250, at: NOW + 250 },
        ...{ inFlight: 0, version: '2.7.1', ackWithin: 15_000, rememberFor: 0, closed: true },
      },
      rows: [
        {
          ...{ ...of('call-1'), outcome: 'handled', source: 'webhook', webhookId: 'id-1' },
          ...{ durationMs: 12.4, handlerMs: 12.4, lagMs: 250, secretId: 'blue', attempt: 1 },
        },
        {
          ...{ ...of('call-1'), outcome: 'duplicate', source: 'reconcile', durationMs: 0 },
          webhookId: expect.stringMatching(/^reconcile-/),
        },
      ],
      failures: [
        { ...failed, outcome: 'handler-failed', webhookId: 'id-2', attempt: 1, attemptsLeft: 1 },
        { ...failed, outcome: 'dead-lettered', webhookId: 'id-3', attempt: 2, attemptsLeft: 0 },
      ],
      counts: {
        minutes: {
          [minute]: {
            'outcome/webhook/handled/call:started': 1,
            'outcome/webhook/handler-failed/call:started': 1,
            'outcome/webhook/dead-lettered/call:started': 1,
            'outcome/reconcile/duplicate/call:started': 1,
            ...{ 'secret/blue': 1, 'secret/green': 2 },
          },
        },
        times: {
          [ten]: {
            ...{ 'handlerMs/call:started/15': 1, 'handlerMs/call:started/22': 2 },
            ...{ 'deliveryMs/call:started/15': 1, 'deliveryMs/call:started/22': 2 },
            ...{ 'lagMs/32': 1, 'lagMs/47': 2, 'storeMs/0': 4 },
          },
        },
        arrivals: { [ten]: { 'call:started/': 2 } },
      },
      marks: {
        'ack//call:started/blue': NOW + 250,
        'failed//call:started/green': NOW + 250,
        'ack//call:started/green': NOW + 250,
      },
    },
  ]);
});
