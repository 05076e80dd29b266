import { describe, expect, it } from '@jest/globals';
import { memoryStore, type DeadLetter, type ReceiverOptions } from '@call-webhooks/core';
import { deferred } from '@call-webhooks/store-tests/internal';
import { callBody } from '@call-webhooks/store-tests/internal';
import type { AdapterTestContext } from './under-test.ts';

const broken = (): Promise<never> => Promise.reject(new Error('connection refused'));
const store = memoryStore();
const on = { 'call:completed': () => undefined };

/** What a receiver with such options answers to such a delivery; of a call that completed by default. */
const rows: [string, Partial<ReceiverOptions>, { body?: string; encoding?: string }?][] = [
  ['200 handled', { on }],
  ['200 ignored', { on }, { body: '{"no":"name"}' }],
  ['202 queued', { queue: { enqueue: () => Promise.resolve() } }],
  ['200 dead-lettered', { deadLetter: () => undefined }, { body: '{"eventName":' }],
  ['413 body-too-large', { bodyLimit: 20 }],
  ['415 unsupported-encoding', { on }, { encoding: 'gzip' }],
  ['422 invalid-payload', { on }, { body: '' }],
  ['422 invalid-payload', { on }, { body: '\ufeff{}' }],
  ['503 secret-unavailable', { secret: broken }],
  ['503 store-unavailable', { on, store: { ...store, admit: broken } }],
  [
    '503 store-unavailable',
    { on, store: { ...store, admit: () => new Promise(() => undefined) }, storeTimeout: 20 },
  ],
  ['503 store-unavailable', { queue: { enqueue: broken } }],
];

/** Each row of the outcome table gets out; hostile.ts has that of slow bodies. */
export function outcomeTable({ start, host }: AdapterTestContext): void {
  describe('the outcome table', () => {
    it.each(rows)('%s', async (expected, options, { body = callBody('c1'), encoding } = {}) => {
      const { sender } = await start(options);
      const headers = { 'content-encoding': encoding };
      const { status, outcome } = await sender.post(body, { headers });
      expect(`${String(status)} ${String(outcome)}`).toBe(expected);
    });

    it('replayed: 409, duplicate: 200, shutting-down: 503 after close', async () => {
      const calls: unknown[] = [];
      const { sender, receiver } = await start({
        on: { 'call:completed': ({ callId }) => calls.push(callId) },
      });
      const webhookId = crypto.randomUUID();
      await sender.post(callBody('c1'), { webhookId });
      const replayed = await sender.post(callBody('c1'), { webhookId });
      expect(replayed).toEqual({ status: 409, outcome: 'replayed' });
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
      await receiver.close();
      expect(await sender.post(callBody('c2'))).toEqual({ status: 503, outcome: 'shutting-down' });
      expect(calls).toEqual(['c1']);
    });

    it('handler-failed: 500, then dead-lettered: 200, each with a log line without personal data', async () => {
      const letters: DeadLetter[] = [];
      const cause = new Error('connect ECONNREFUSED 10.0.0.5:5432');
      const { sender, entries, lines, outcomes } = await start({
        maxAttempts: 2,
        on: {
          'call:completed': () => {
            throw new TypeError('no contact for ada@lovelace.example', { cause });
          },
        },
        deadLetter: (delivery) => letters.push(delivery),
      });
      const body = callBody('c1', 'call:completed', { recipientEmail: 'ada@lovelace.example' });
      expect(await sender.post(body)).toEqual({ status: 500, outcome: 'handler-failed' });
      expect(await sender.post(body)).toEqual({ status: 200, outcome: 'dead-lettered' });
      expect(letters).toMatchObject([{ reason: 'handler-failed', attempt: 2 }]);
      expect(Buffer.from(letters[0]!.rawBody).toString()).toBe(body);
      const fields = { eventName: 'call:completed', callId: 'c1', key: 'c1:call:completed' };
      expect(entries).toMatchObject([
        { fields: { ...fields, outcome: 'handler-failed', attempt: 1, retriedBy: 'service' } },
        { fields: { ...fields, outcome: 'dead-lettered', attempt: 2, retriedBy: 'nobody' } },
      ]);
      for (const line of lines) expect(line).toContain(cause.message);
      expect(JSON.stringify([lines, outcomes])).not.toContain('lovelace');
    });

    it('in-progress, and overloaded above maxInFlight: 503', async () => {
      const [entered, release] = [deferred(), deferred()];
      const { sender } = await start({
        maxInFlight: 2,
        on: {
          'call:completed': async () => {
            entered.resolve();
            await release.promise;
          },
          'call:started': () => release.promise,
        },
      });
      const first = sender.post(callBody('c1'));
      await entered.promise;
      expect(await sender.post(callBody('c1'))).toEqual({ status: 503, outcome: 'in-progress' });
      const replies = ['c2', 'c3'].map((id) => sender.post(callBody(id, 'call:started')));
      expect(await Promise.race(replies)).toEqual({ status: 503, outcome: 'overloaded' });
      release.resolve();
      expect((await Promise.all([first, ...replies])).map(({ outcome }) => outcome)).toContain(
        'handled',
      );
    });

    it('deadline: 503 in time; the handler commits late, and its retry is a duplicate', async () => {
      const [release, overdue, late] = [deferred(), deferred(), deferred()];
      const aborted: boolean[] = [];
      const outcomes: [string, boolean | undefined][] = [];
      const { sender } = await start({
        ackWithin: 30,
        onOutcome: ({ outcome, late: isLate }) => {
          outcomes.push([outcome, isLate]);
          (isLate ? late : overdue).resolve();
        },
        on: {
          'call:completed': async (_event, { signal }) => {
            await release.promise;
            aborted.push(signal.aborted);
          },
        },
      });
      const reply = sender.post(callBody('c1'));
      await (host.waitsForLateHandlers ? overdue.promise : reply);
      release.resolve();
      expect(await reply).toEqual({ status: 503, outcome: 'deadline' });
      await late.promise;
      expect(aborted).toEqual([true]);
      expect(outcomes).toEqual([
        ['deadline', undefined],
        ['handled', true],
      ]);
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
    });
  });
}
