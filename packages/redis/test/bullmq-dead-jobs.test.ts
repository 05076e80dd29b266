import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  queuedCall,
  describeWithProgram,
  redisServer,
  unique,
  waitFor,
  type WorkerHandlers,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import type { DeadLetter } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { deliverer, type Deliverer } from './deliverer.ts';

jest.setTimeout(30_000);

describeWithProgram(
  'redis-server',
  'BullMQ jobs that are given up, and workers that are closed',
  () => {
    let server: RedisServer;
    let queue: Queue;
    let receiver: Deliverer;
    const toClose: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      server = await redisServer({ durable: true });
      await server.start();
    });
    afterAll(() => server.stop());

    beforeEach(() => {
      const connection = { host: '127.0.0.1', port: server.port };
      queue = new Queue(unique('calls'), { connection });
      queue.on('error', () => undefined);
      receiver = deliverer({ queue: bullmqQueue(queue) });
    });
    afterEach(async () => {
      await receiver.close();
      for (const close of toClose.splice(0)) await close();
      await queue.close();
    });

    /** A worker whose jobs are taken over when it was silent for a moment. */
    const work = (handlers: WorkerHandlers, more: object = {}) => {
      const made = createBullmqWorker({
        ...{ Worker, queueName: queue.name, connection: { host: '127.0.0.1', port: server.port } },
        ...{ backoff: { initialDelay: 20, maxDelay: 200 }, logger: collectingLogger() },
        bullmq: { lockDuration: 300, stalledInterval: 100, runRetryDelay: 100 },
        ...more,
        ...handlers,
      });
      toClose.push(() => made.close({ graceMs: 0 }));
      return made;
    };

    it('runs a job that was given up for crashes when it is retried by hand', async () => {
      let runs = 0;
      const hang = deferred();
      await receiver.deliver(unique('call'));
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
      await waitFor(async () => (await queue.getFailedCount()) === 1);
      expect(runs).toBe(1);
      await queue.retryJobs();
      await waitFor(async () => (await queue.getCompletedCount()) === 1);
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
        const hand = bullmqQueue(queue, { maxAttempts: attempts, logger: collectingLogger() });
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
        await waitFor(async () => (await queue.getFailedCount()) === 1);
        expect(asked).toBe(3);
        expect(runs).toBe(why === 'for crashes' ? 0 : 1);
        expect(letters).toHaveLength(1);
        await queue.retryJobs();
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
      await receiver.deliver(unique('call'));
      const signal = await started.promise;
      server.freeze();
      const from = performance.now();
      await made.close({ graceMs: 200 });
      expect(performance.now() - from).toBeLessThan(2_000);
      expect(signal.aborted).toBe(true);
      server.thaw();
      hang.resolve();
    });
  },
);
