import expect from '../expect.cjs';
import type { DeadJobs, ListedJob, QueueJobs } from '@call-webhooks/core/stores';
import { badCursors } from './bad-cursors.ts';
import { deferred } from './deferred.ts';
import { queuedCall } from './queue/deliveries.ts';
import type { OpenedQueue, QueueUnderTest } from './queue/under-test.ts';
import { contextOf } from './queue-contract-tests.ts';
import { testsOf, type TestRunner } from './runner.ts';
import { unique } from './unique.ts';

/** A queue, its jobs in every state, and those that are dead. */
export type OpenedQueueJobs = OpenedQueue & { jobs: QueueJobs; deadJobs: DeadJobs };

/** Registers the tests that the jobs of every queue have to pass, for an erasure. */
export function queueJobsContractTests(
  runner: TestRunner,
  subject: QueueUnderTest<OpenedQueueJobs>,
): void {
  const tests = testsOf(runner);
  tests.describe(`${subject.name}: contract tests of all jobs`, () => {
    const { it, open, waitFor } = contextOf(tests, subject);

    /** All jobs, and those of a call. */
    async function allOf(jobs: QueueJobs, limit = 3) {
      const found: ListedJob[] = [];
      let cursor: string | undefined;
      do {
        const page: Awaited<ReturnType<QueueJobs['list']>> = await jobs.list({ cursor, limit });
        expect(page.jobs.length).toBeLessThanOrEqual(limit);
        found.push(...page.jobs);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found;
    }
    const stateOf = async (jobs: QueueJobs, callId: string) => {
      const found = (await allOf(jobs)).filter(({ delivery }) => delivery.callId === callId);
      // A job that was given up may have left an empty one behind, by which duplicates are known.
      return found.filter(({ delivery }) => Boolean(delivery.body)).map(({ state }) => state);
    };
    const jobOf = async (jobs: QueueJobs, callId: string) =>
      (await allOf(jobs)).find(
        ({ delivery }) => delivery.callId === callId && Boolean(delivery.body),
      )!;

    it('lists jobs that wait, with their deliveries, over many pages', async () => {
      const { queue, jobs } = await open();
      const deliveries = Array.from({ length: 10 }, () => queuedCall(unique('call')));
      for (const delivery of deliveries) await queue.enqueue(delivery);
      for (const limit of [1, 3, 100]) {
        const found = await allOf(jobs, limit);
        expect(found.map(({ delivery }) => delivery.callId).sort()).toEqual(
          deliveries.map(({ callId }) => callId).sort(),
        );
        expect(found.every(({ state }) => state === 'waiting')).toBe(true);
      }
      const [first = queuedCall('')] = deliveries;
      const job = await jobOf(jobs, first.callId!);
      expect(job.delivery).toMatchObject(first);
      expect(job.at.getTime()).toBe(first.receivedAt);
      const { cursor } = await jobs.list({ limit: 1 });
      for (const garbage of badCursors(cursor!))
        await expect(jobs.list({ cursor: garbage })).rejects.toMatchObject({
          code: 'invalid-cursor',
        });
    });

    it('misses no job that waited before, though others are added between two pages', async () => {
      const { queue, jobs } = await open();
      const add = async () => {
        const delivery = queuedCall(unique('call'));
        await queue.enqueue(delivery);
        return delivery.callId;
      };
      const waited: (string | undefined)[] = [];
      for (let added = 0; added < 6; added++) waited.push(await add());
      const found: (string | undefined)[] = [];
      let cursor: string | undefined;
      for (let more = 0; more < 30; more++) {
        const page = await jobs.list({ cursor, limit: 1 });
        found.push(...page.jobs.map(({ delivery }) => delivery.callId));
        if ((cursor = page.cursor) === undefined) break;
        if (more < 6) await add();
      }
      expect(cursor).toBeUndefined();
      for (const callId of waited) expect(found.filter((one) => one === callId)).toEqual([callId]);
    });

    it('erases a job that waits, which is never run', async () => {
      const { queue, jobs, startWorker } = await open();
      const [erased, other] = [unique('call'), unique('call')];
      const deliveries = [erased, other].map((callId) => queuedCall(callId));
      for (const delivery of deliveries) await queue.enqueue(delivery);
      const { id } = await jobOf(jobs, erased);
      expect(await jobs.forget(deliveries.map(({ key }) => key!))).toBe(0);
      expect(await jobs.erase(id, 'dead')).toBe(false);
      expect(await jobs.erase(id, 'done')).toBe(false);
      expect(await stateOf(jobs, erased)).toEqual(['waiting']);
      expect(await jobs.erase(id, 'waiting')).toBe(true);
      expect(await jobs.erase(id, 'waiting')).toBe(false);
      const runs: unknown[] = [];
      await startWorker({ on: { 'call:completed': ({ callId }) => void runs.push(callId) } });
      await waitFor(() => runs.length === 1);
      expect(runs).toEqual([other]);
    });

    it('leaves a job that runs, and lets it end', async () => {
      const { queue, jobs, startWorker } = await open();
      const callId = unique('call');
      const [running, go] = [deferred(), deferred()];
      let ended = false;
      const delivery = queuedCall(callId);
      await queue.enqueue(delivery);
      await startWorker({
        on: {
          'call:completed': async () => {
            running.resolve();
            await go.promise;
            ended = true;
          },
        },
      });
      await running.promise;
      const { id, state } = await jobOf(jobs, callId);
      expect(state).toBe('running');
      for (const other of ['waiting', 'dead', 'done'] as const)
        expect(await jobs.erase(id, other)).toBe(false);
      expect(await jobs.forget([delivery.key!])).toBe(0);
      expect(await stateOf(jobs, callId)).toEqual(['running']);
      go.resolve();
      await waitFor(() => ended);
    });

    it('erases a dead job', async () => {
      const { queue, jobs, deadJobs, startWorker } = await open({ maxRuns: 1 });
      const callId = unique('call');
      const delivery = queuedCall(callId);
      await queue.enqueue(delivery);
      await startWorker({
        on: {
          'call:completed': () => {
            throw new Error('the CRM is down');
          },
        },
      });
      // An engine may move it step by step.
      await waitFor(async () => (await stateOf(jobs, callId)).join() === 'dead');
      const job = await jobOf(jobs, callId);
      const [letter] = (await deadJobs.list()).letters;
      expect(job).toMatchObject({ id: letter!.id, state: 'dead', at: letter!.failedAt });
      await jobs.forget([delivery.key!]); // says nothing of what failed
      expect(await stateOf(jobs, callId)).toEqual(['dead']);
      expect(await jobs.erase(job.id, 'waiting')).toBe(false);
      expect(await jobs.erase(job.id, 'dead')).toBe(true);
      expect(await jobs.erase(job.id, 'dead')).toBe(false);
      expect(await deadJobs.count()).toBe(0);
      expect(await stateOf(jobs, callId)).toEqual([]);
    });

    it('keeps no body of a job that was handled, and still knows its event', async () => {
      const { queue, jobs, startWorker } = await open();
      const [callId, last] = [unique('call'), unique('call')];
      const runs: unknown[] = [];
      await startWorker({ on: { 'call:completed': (event) => void runs.push(event.callId) } });
      await queue.enqueue(queuedCall(callId));
      await waitFor(() => runs.length === 1);
      await waitFor(async () => (await stateOf(jobs, callId)).length === 0);
      const left = (await allOf(jobs)).filter(({ delivery }) => delivery.callId === callId);
      expect(left.every(({ state }) => state === 'done')).toBe(true);
      for (const { id } of left) expect(await jobs.erase(id, 'done')).toBe(true);
      expect(JSON.stringify(await allOf(jobs))).not.toContain(callId);

      await queue.enqueue(queuedCall(callId)); // a duplicate, still
      await queue.enqueue(queuedCall(last));
      await waitFor(() => runs.includes(last));
      expect(runs).toEqual([callId, last]);
    });

    it('forgets an event that was handled, when it is asked to', async () => {
      const { queue, jobs, startWorker } = await open();
      const delivery = queuedCall(unique('call'));
      const runs: unknown[] = [];
      await startWorker({ on: { 'call:completed': ({ callId }) => void runs.push(callId) } });
      await queue.enqueue(delivery);
      await waitFor(() => runs.length === 1);
      const keys = [delivery.key!, unique('nobody')];
      await waitFor(async () => (await jobs.forget(keys)) === 1);
      expect(await jobs.forget(keys)).toBe(0);
      await queue.enqueue(delivery);
      await waitFor(() => runs.length === 2);
    });

    for (const state of ['waiting', 'dead', 'done'] as const)
      it(`runs an event again whose job was forgotten and erased while it was ${state}`, async () => {
        const { queue, jobs, startWorker } = await open({ maxRuns: 1 });
        const delivery = queuedCall(unique('call'));
        const runs: unknown[] = [];
        let fails = state === 'dead';
        const on = {
          'call:completed': ({ callId }: { callId?: string | undefined }) => {
            if (fails) throw new Error('the CRM is down');
            runs.push(callId);
          },
        };
        if (state !== 'waiting') await startWorker({ on });
        await queue.enqueue(delivery);
        if (state === 'dead')
          await waitFor(async () => (await stateOf(jobs, delivery.callId!)).join() === 'dead');
        if (state === 'done') await waitFor(() => runs.length === 1);
        // As an erasure does it: keys first, so that one that was interrupted finds the job again.
        if (state === 'done') await waitFor(async () => (await jobs.forget([delivery.key!])) === 1);
        else await jobs.forget([delivery.key!]);
        for (const job of (await allOf(jobs)).filter(
          (one) => one.delivery.callId === delivery.callId,
        ))
          await jobs.erase(job.id, state);
        expect(await stateOf(jobs, delivery.callId!)).toEqual([]);

        fails = false;
        runs.length = 0;
        await queue.enqueue(delivery);
        if (state === 'waiting') await startWorker({ on });
        await waitFor(() => runs.length === 1);
      });

    it('knows nothing of other ids', async () => {
      const { jobs } = await open();
      for (const id of ['1', 'nobody', '', '9'.repeat(400), 'a\0\ud800', crypto.randomUUID()])
        for (const state of ['waiting', 'dead', 'done'] as const)
          expect(await jobs.erase(id, state)).toBe(false);
      expect(await allOf(jobs)).toEqual([]);
    });
  });
}
