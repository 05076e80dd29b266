import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  describeWithProgram,
  queuedCall,
  unique,
  waitFor,
  type WorkerHandlers,
} from '@call-webhooks/contract-tests';
import type { DeadLetter } from '@call-webhooks/core';
import { bullmqQueue } from '../src/index.ts';
import { useBullmq } from './use-bullmq.ts';

describeWithProgram(
  'redis-server',
  'BullMQ jobs that are given up, and workers that are closed',
  () => {
    const { test, work } = useBullmq();

    it('runs a job that was given up for crashes when it is retried by hand', async () => {
      let runs = 0;
      const hang = deferred();
      await test.receiver.deliver(unique('call'));
      const crashing = work({
        on: {
          'call:completed': async () => {
            runs += 1;
            await hang.promise;
          },
        },
      });
      await waitFor(() => runs === 1);
      await crashing.close({ graceMs: 0 });
      work({ on: { 'call:completed': () => void (runs += 1) } }, { maxCrashes: 0 });
      await waitFor(async () => (await test.queue.getFailedCount()) === 1);
      expect(runs).toBe(1);
      await test.queue.retryJobs();
      await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
      expect(runs).toBe(2);
      hang.resolve();
    });

    it.each(['in its last attempt', 'for crashes'])(
      'gives a job up %s only once deadLetter was told, without another run of the handler',
      async (why) => {
        const letters: DeadLetter[] = [];
        let asked = 0;
        let runs = 0;
        const attempts = why === 'for crashes' ? 100 : 1;
        const hand = bullmqQueue(test.queue, { maxRuns: attempts, logger: collectingLogger() });
        await hand.enqueue(queuedCall(unique('call')));
        if (why === 'for crashes') {
          const started = deferred();
          const hang = deferred();
          const crashing = work({
            on: {
              'call:completed': () => {
                started.resolve();
                return hang.promise;
              },
            },
          });
          await started.promise;
          await crashing.close({ graceMs: 0 });
          hang.resolve();
        }
        const handlers: WorkerHandlers = {
          on: {
            'call:completed': () => {
              runs += 1;
              throw new Error('the CRM is down');
            },
          },
          deadLetter(letter) {
            asked += 1;
            if (asked < 3) throw new Error('the disk is full');
            letters.push(letter);
          },
        };
        work(handlers, { maxCrashes: 0 });
        await waitFor(async () => (await test.queue.getFailedCount()) === 1);
        expect(asked).toBe(3);
        expect(runs).toBe(why === 'for crashes' ? 0 : 1);
        expect(letters).toHaveLength(1);
        await test.queue.retryJobs();
        await waitFor(() => runs === (why === 'for crashes' ? 1 : 2));
      },
    );

    it('closes in time though the server is frozen, and aborts its handlers', async () => {
      const started = deferred<AbortSignal>();
      const hang = deferred();
      const made = work({
        on: {
          'call:completed': (_event, { signal }) => {
            started.resolve(signal);
            return hang.promise;
          },
        },
      });
      await test.receiver.deliver(unique('call'));
      const signal = await started.promise;
      test.server.freeze();
      const from = performance.now();
      await made.close({ graceMs: 200 });
      expect(performance.now() - from).toBeLessThan(15_000); // 2 s, and time for a slow machine
      expect(signal.aborted).toBe(true);
      test.server.thaw();
      hang.resolve();
    });
  },
);
