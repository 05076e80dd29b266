import expect from '../expect.cjs';
import type { DeadJobs, ListedDeadLetter } from '@call-webhooks/core/stores';
import { allLetters } from './dead-letters/under-test.ts';
import { difference } from './bytes.ts';
import { badCursors } from './bad-cursors.ts';
import { queued, queuedCall } from './queue/deliveries.ts';
import type { OpenedQueue, QueueUnderTest } from './queue/under-test.ts';
import { contextOf } from './queue-contract-tests.ts';
import { testsOf, type TestRunner } from './runner.ts';
import { unique } from './unique.ts';

/** A queue, and its dead jobs over two connections. */
export type OpenedDeadJobs = OpenedQueue & { deadJobs: DeadJobs; others: DeadJobs };

export interface DeadJobsUnderTest extends QueueUnderTest<OpenedDeadJobs> {
  /** Whether the engine keeps every failed attempt with its time, or the last one only. */
  keepsAttempts: boolean;
}

/** Registers the tests that the dead jobs of every queue have to pass. */
export function deadJobsContractTests(runner: TestRunner, subject: DeadJobsUnderTest): void {
  const tests = testsOf(runner);
  tests.describe(`${subject.name}: dead jobs contract tests`, () => {
    const { it, open, waitFor } = contextOf(tests, subject);

    /** A queue with so many dead jobs, whose handler fails for calls that are `broken`. */
    async function setup(count: number, maxRuns = 2) {
      const opened = await open({ maxRuns });
      const runs: { callId: string; attempt: number }[] = [];
      const calls = Array.from({ length: count }, () => unique('call'));
      const broken = new Set(calls);
      await opened.startWorker({
        on: {
          'call:completed': ({ callId }, { attempt }) => {
            runs.push({ callId: String(callId), attempt });
            if (broken.has(String(callId))) throw new Error('the CRM is down');
          },
        },
      });
      const deliveries = calls.map((callId) => queuedCall(callId));
      for (const delivery of deliveries) await opened.queue.enqueue(delivery);
      await waitFor(async () => (await opened.deadJobs.count()) === count);
      return { ...opened, runs, calls, broken, deliveries };
    }

    it('shows a dead job as a letter, with all that is known of it', async () => {
      const before = Date.now();
      const { deadJobs, deliveries, calls } = await setup(1);
      const { letters } = await deadJobs.list();
      const [{ webhookId, timestamp, key, body } = queued(new Uint8Array())] = deliveries;
      expect(letters).toHaveLength(1);
      const [letter] = letters as [ListedDeadLetter];
      expect(letter).toMatchObject({
        reason: 'handler-failed',
        webhookId,
        key,
        callId: calls[0],
        attempt: 2,
        eventName: 'call:completed',
        source: 'queue',
        timestamp: new Date(timestamp * 1000),
        error: 'The handler failed: Error: the CRM is down',
      });
      const [failure, ...earlier] = [...letter.history].reverse();
      expect(failure).toMatchObject({ source: 'queue', attempt: 2, error: letter.error });
      expect(earlier.map(({ attempt }) => attempt)).toEqual(subject.keepsAttempts ? [1] : []);
      for (const { at } of letter.history)
        expect(at.getTime()).toBeLessThanOrEqual(letter.failedAt.getTime());
      expect(letter).not.toHaveProperty('rawBody'); // a list shows no bodies
      expect(letter.failedAt.getTime()).toBeGreaterThanOrEqual(before - 1_000);
      expect(letter.failedAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
      const rawBody = Buffer.from(body, 'base64');
      const whole = await deadJobs.get(letter.id);
      expect(whole).toEqual({ ...letter, bytes: rawBody.length, rawBody: expect.anything() });
      expect(difference(whole!.rawBody, rawBody)).toBe('none');
    });

    it('runs a job that is requeued once more; a second failure is dead again', async () => {
      const { deadJobs, runs, broken, calls, queue } = await setup(1);
      const [callId = ''] = calls;
      const [first] = (await deadJobs.list()).letters;
      expect(await deadJobs.requeue(first!.id)).toBe(true);
      await waitFor(() => runs.length === 3);
      await waitFor(async () => (await deadJobs.count()) === 1);
      const [second] = (await deadJobs.list()).letters;
      expect(second).toMatchObject({ id: first!.id, attempt: 3, key: first!.key });
      expect(second!.history.map(({ attempt }) => attempt)).toEqual(
        subject.keepsAttempts ? [1, 2, 3] : [3],
      );
      expect(second!.failedAt.getTime()).toBeGreaterThanOrEqual(first!.failedAt.getTime());
      broken.clear();
      expect(await deadJobs.requeue(second!.id)).toBe(true);
      await waitFor(() => runs.length === 4);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
      expect(await deadJobs.count()).toBe(0);
      expect(await deadJobs.requeue(second!.id)).toBe(false);
      await queue.enqueue(queuedCall(callId)); // a late duplicate
      await queue.enqueue(queuedCall('last'));
      await waitFor(() => runs.at(-1)?.callId === 'last');
      expect(runs).toHaveLength(5);
    });

    it('runs a job that died early once more, as any other', async () => {
      const { queue, deadJobs, startWorker } = await open({ maxRuns: 100 });
      let [isRefused, isBroken] = [true, true];
      const attempts: number[] = [];
      const validate = (value: unknown) =>
        isRefused ? { issues: [{ message: 'unknown' }] } : { value };
      await startWorker({
        custom: {
          schema: { '~standard': { version: 1, vendor: 'test', validate } },
          handle: (_payload, { attempt }) => {
            attempts.push(attempt);
            if (isBroken) throw new Error('the CRM is down');
          },
        },
      });
      const isDead = () => waitFor(async () => (await deadJobs.count()) === 1);
      await queue.enqueue(queued(Buffer.from('{"lead":1}')));
      await isDead();
      const [{ id } = { id: '' }] = (await deadJobs.list()).letters;
      isRefused = false;
      expect(await deadJobs.requeue(id)).toBe(true);
      await isDead();
      expect(await deadJobs.get(id)).toMatchObject({ reason: 'handler-failed', attempt: 2 });
      expect(attempts).toEqual([2]);
      isBroken = false;
      expect(await deadJobs.requeue(id)).toBe(true);
      await waitFor(() => attempts.length === 2);
      expect(attempts).toEqual([2, 3]);
    });

    it('pages, filters and counts', async () => {
      const { deadJobs, queue, calls } = await setup(23, 1);
      await queue.enqueue(queued(Buffer.from('{"eventName":'), { tenant: 'acme' }));
      await waitFor(async () => (await deadJobs.count()) === 24);
      for (const limit of [1_000, 24, 7, 1]) {
        const found = await allLetters(deadJobs, { limit });
        expect(found).toHaveLength(24);
        expect(new Set(found.map(({ id }) => id)).size).toBe(24);
        const times = found.map(({ failedAt }) => failedAt.getTime());
        expect(times).toEqual([...times].sort((one, other) => one - other));
      }
      const failed = await allLetters(deadJobs, { eventName: 'call:completed', limit: 5 });
      expect(failed.map(({ callId }) => callId).sort()).toEqual([...calls].sort());
      expect(await deadJobs.count({ reason: 'invalid-payload' })).toBe(1);
      expect(await deadJobs.count({ eventName: 'call:started' })).toBe(0);
      expect(await allLetters(deadJobs, { tenant: 'acme' })).toMatchObject([{ tenant: 'acme' }]);
      expect(await deadJobs.count({ tenant: 'globex' })).toBe(0);
      const middle = failed[12]!.failedAt;
      const [early, late] = [{ until: middle }, { since: middle }];
      expect((await deadJobs.count(early)) + (await deadJobs.count(late))).toBe(24);
      const isLate = failed.filter(({ failedAt }) => failedAt >= middle).length;
      expect(await allLetters(deadJobs, { ...late, eventName: 'call:completed' })).toHaveLength(
        isLate,
      );
      await expect(deadJobs.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid-options' });
      const { cursor } = await deadJobs.list({ limit: 1 });
      for (const garbage of badCursors(cursor!))
        await expect(deadJobs.list({ cursor: garbage })).rejects.toMatchObject({
          name: 'WebhookError',
          code: 'invalid-cursor',
        });
      const [first, last] = [new Date(-8.64e15), new Date(8.64e15)];
      expect(await deadJobs.count({ since: first, until: last })).toBe(24);
      expect(await deadJobs.count({ until: first })).toBe(0);
      expect(await deadJobs.count({ since: last })).toBe(0);
    });

    it('removes a job for good', async () => {
      const { deadJobs, runs } = await setup(2, 1);
      const [one, other] = (await deadJobs.list()).letters;
      expect(await deadJobs.remove(one!.id)).toBe(true);
      expect(await deadJobs.remove(one!.id)).toBe(false);
      expect(await deadJobs.requeue(one!.id)).toBe(false);
      expect(await deadJobs.get(one!.id)).toBeUndefined();
      expect((await deadJobs.list()).letters).toEqual([other]);
      expect(runs).toHaveLength(2);
    });

    it('removes what has expired, in batches, and leaves the others', async () => {
      const { deadJobs, queue, runs } = await setup(7, 1);
      const { letters } = await deadJobs.list();
      const times = letters.map(({ failedAt }) => failedAt.getTime());
      const before = new Date(times[4]!);
      const old = times.filter((time) => time < before.getTime()).length;
      const turn = { before, limit: 2, token: unique('token'), leaseMs: 60_000 };
      let removed = 0;
      for (let count = -1; count !== 0; removed += count) {
        count = (await queue.removeExpired!(turn))!;
        expect(count).toBeLessThanOrEqual(2);
      }
      expect(removed).toBe(old);
      expect((await deadJobs.list()).letters).toEqual(letters.slice(old));
      expect(await deadJobs.get(letters[0]!.id)).toEqual(old > 0 ? undefined : letters[0]);
      expect(runs).toHaveLength(7);
    });

    it('removes what has expired once, for two processes that do so at the same time', async () => {
      const { deadJobs, queue } = await setup(20, 1);
      const before = new Date(Date.now() + 60_000);
      const remove = async (limit: number) =>
        queue.removeExpired!({ before, limit, token: unique('token'), leaseMs: 60_000 });
      const counts = await Promise.all([remove(5), remove(5), remove(5)]);
      const removed = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
      expect(removed).toBeGreaterThanOrEqual(5);
      expect(await deadJobs.count()).toBe(20 - removed);
    });

    it('knows nothing of jobs that are not dead', async () => {
      const { queue, deadJobs } = await open();
      await queue.enqueue(queuedCall(unique('call')));
      expect(await deadJobs.list()).toEqual({ letters: [] });
      for (const id of ['1', 'nobody', '', '9'.repeat(400), 'a\0\ud800', crypto.randomUUID()]) {
        expect(await deadJobs.get(id)).toBeUndefined();
        expect(await deadJobs.requeue(id)).toBe(false);
        expect(await deadJobs.remove(id)).toBe(false);
      }
    });

    it('runs each job once for two operators, and no job twice at the same time', async () => {
      const { deadJobs, others, runs, broken } = await setup(60, 1);
      broken.clear();
      runs.length = 0;
      const ids = (await allLetters(deadJobs, {})).map(({ id }) => id);
      const requeueAll = (by: DeadJobs) => Promise.all(ids.map((id) => by.requeue(id)));
      const [one, other] = await Promise.all([requeueAll(deadJobs), requeueAll(others)]);
      const taken = [...one, ...other].filter(Boolean);
      expect(taken).toHaveLength(60);
      await waitFor(() => runs.length >= 60);
      await waitFor(async () => (await deadJobs.count()) === 0);
      expect(new Set(runs.map(({ callId }) => callId)).size).toBe(60);
      expect(runs).toHaveLength(60);
    });
  });
}
