import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  deadJobsContractTests,
  describeWithProgram,
  redisServer,
  unique,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { bullmqDeadJobs, bullmqQueue, createBullmqWorker } from '../src/index.ts';

jest.setTimeout(30_000);

describeWithProgram('redis-server', 'dead jobs of BullMQ on a real server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
  });
  afterAll(() => server.stop());
  const connect = (name: string) =>
    new Queue(name, { connection: { host: '127.0.0.1', port: server.port } });

  deadJobsContractTests({
    name: 'bullmqDeadJobs',
    keepsAttempts: false,
    open({ maxAttempts, concurrency }) {
      const connection = { host: '127.0.0.1', port: server.port };
      const queueName = unique('calls');
      const [queue, other] = [connect(queueName), connect(queueName)];
      return Promise.resolve({
        queue: bullmqQueue(queue, { maxAttempts, logger: collectingLogger() }),
        async startWorker(handlers) {
          const backoff = { initialDelay: 2, maxDelay: 20 };
          const made = createBullmqWorker({
            ...{ Worker, queueName, connection, concurrency, backoff },
            ...handlers,
          });
          await made.worker.waitUntilReady();
          return made;
        },
        deadJobs: bullmqDeadJobs(queue),
        others: bullmqDeadJobs(other),
        deadLetters: async () =>
          (await queue.getFailed()).map(({ data }) => data as QueuedDelivery),
        async close() {
          await queue.close();
          await other.close();
        },
      });
    },
  });

  it('leaves jobs out that are not of a receiver', async () => {
    const queue = connect(unique('calls'));
    const worker = new Worker(queue.name, () => Promise.reject(new Error('no')), {
      connection: { host: '127.0.0.1', port: server.port },
    });
    const { id = '' } = await queue.add('mail', { to: 'somebody' });
    await waitFor(async () => (await queue.getFailedCount()) === 1);
    const deadJobs = bullmqDeadJobs(queue);
    expect(await deadJobs.count()).toBe(0);
    expect(await deadJobs.get(id)).toBeUndefined();
    expect(await deadJobs.requeue(id)).toBe(false);
    expect(await deadJobs.remove(id)).toBe(false);
    await worker.close();
    await queue.close();
    expect(() => bullmqDeadJobs({} as never)).toThrow('expected a Queue of BullMQ');
  });
});
