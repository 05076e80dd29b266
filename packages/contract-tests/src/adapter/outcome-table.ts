import { describe, expect, it } from '@jest/globals';
import { memoryStore, type DeadLetter, type QueuedDelivery, type Store } from '@call-webhooks/core';
import { deferred } from '../deferred.ts';
import { callBody, recordingBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

const broken = (): Promise<never> => Promise.reject(new Error('connection refused'));
const brokenStore: Store = { admit: broken, complete: broken, release: broken, extend: broken };
const unavailable = { status: 503, outcome: 'store-unavailable' };
const handled = { status: 200, outcome: 'handled' };
const on = { 'call:completed': () => undefined };

/** Each row of the outcome table gets out; hostile.ts has that of slow bodies. */
export function outcomeTable({ start, host }: AdapterTestContext): void {
  describe('the outcome table', () => {
    it('handled: 200, with the typed event, for each of the three', async () => {
      const seen: string[] = [];
      const { sender } = await start({
        on: {
          'call:started': (event) => seen.push(event.eventName),
          'call:completed': (event) => seen.push(event.eventName),
          'call:recording-available': (event) => seen.push(String(event.recordingUrl)),
        },
      });
      expect(await sender.post(recordingBody('c1'))).toEqual(handled);
      expect(await sender.post(callBody('c1', 'call:completed'))).toEqual(handled);
      expect(await sender.post(callBody('c1', 'call:started'))).toEqual(handled);
      expect(seen).toEqual([
        'https://api.example.com/v1/calls/c1/recording',
        'call:completed',
        'call:started',
      ]);
    });

    it('duplicate and ignored: 200, replayed: 409', async () => {
      const { sender } = await start({ on });
      const webhookId = crypto.randomUUID();
      expect(await sender.post(callBody('c1'), { webhookId })).toEqual(handled);
      const replayed = { status: 409, outcome: 'replayed' };
      expect(await sender.post(callBody('c1'), { webhookId })).toEqual(replayed);
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
      const ignored = { status: 200, outcome: 'ignored' };
      expect(await sender.post(callBody('c1', 'call:new'))).toEqual(ignored);
      expect(await sender.post('{"no":"name"}')).toEqual(ignored);
    });

    it('queued: 202 with the raw bytes enqueued; store-unavailable: 503 when the queue is down', async () => {
      const queued: QueuedDelivery[] = [];
      const { sender } = await start({
        queue: { enqueue: async (delivery) => void queued.push(delivery) },
      });
      const body = callBody('ä1');
      expect(await sender.post(body)).toEqual({ status: 202, outcome: 'queued' });
      expect(Buffer.from(queued[0]!.body, 'base64').toString()).toBe(body);
      expect(queued[0]).toMatchObject({ key: 'ä1:call:completed', eventName: 'call:completed' });

      const down = await start({ queue: { enqueue: broken } });
      expect(await down.sender.post(body)).toEqual(unavailable);
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

    it('body-too-large: 413, with and without a content-length', async () => {
      const { sender } = await start({ bodyLimit: 100 });
      const body = 'x'.repeat(200);
      expect((await sender.raw(body)).status).toBe(413);
      const headers = { 'transfer-encoding': 'chunked' };
      expect((await sender.raw(body, { headers })).status).toBe(413);
    });

    it('unsupported-encoding: 415, invalid-payload: 422', async () => {
      const { sender } = await start({ on });
      const headers = { 'content-encoding': 'gzip' };
      const refused = { status: 415, outcome: 'unsupported-encoding' };
      expect(await sender.post(callBody('c1'), { headers })).toEqual(refused);
      for (const body of ['', '{', '\ufeff{}'])
        expect(await sender.post(body)).toEqual({ status: 422, outcome: 'invalid-payload' });
    });

    it('store-unavailable, secret-unavailable, shutting-down: 503', async () => {
      let ran = 0;
      const counting = { 'call:completed': () => (ran += 1) };
      const hanging = { ...memoryStore(), admit: () => new Promise<never>(() => undefined) };
      for (const store of [brokenStore, hanging]) {
        const { sender } = await start({ on: counting, store, storeTimeout: 20 });
        expect(await sender.post(callBody('c1'))).toEqual(unavailable);
      }
      const { sender } = await start({ on: counting, secret: broken });
      const noSecret = { status: 503, outcome: 'secret-unavailable' };
      expect(await sender.post(callBody('c1'))).toEqual(noSecret);
      const closed = await start({ on: counting });
      await closed.receiver.close();
      const ended = { status: 503, outcome: 'shutting-down' };
      expect(await closed.sender.post(callBody('c1'))).toEqual(ended);
      expect(ran).toBe(0);
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
