import * as runner from '@jest/globals';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  queuedCall,
  redisServer,
  unique,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import {
  deadJobsContractTests,
  queueJobsContractTests,
  type OpenedQueue,
} from '@call-webhooks/store-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { bullmqDeadJobs, bullmqJobs, bullmqQueue, createBullmqWorker } from '../src/index.ts';

describeWithProgram('redis-server', 'dead jobs of BullMQ on a real server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
  });
  afterAll(() => server.stop());
  const connect = (name: string) =>
    new Queue(name, { connection: { host: '127.0.0.1', port: server.port } });

  const subject = {
    name: 'bullmqDeadJobs',
    keepsAttempts: false,
    open({ maxRuns, concurrency }: { maxRuns: number; concurrency: number }) {
      const connection = { host: '127.0.0.1', port: server.port, socketTimeout: 60_000 };
      const queueName = unique('calls');
      const [queue, other] = [connect(queueName), connect(queueName)];
      return Promise.resolve({
        queue: bullmqQueue(queue, { maxRuns, logger: collectingLogger() }),
        async startWorker(handlers: Parameters<OpenedQueue['startWorker']>[0]) {
          const backoff = { initialDelay: 2, maxDelay: 20 };
          const made = createBullmqWorker({
            ...{ Worker, queueName, connection, concurrency, backoff },
            ...handlers,
          });
          await made.worker.waitUntilReady();
          return made;
        },
        jobs: bullmqJobs(queue),
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
  };
  deadJobsContractTests(runner, subject);
  queueJobsContractTests(runner, { ...subject, name: 'bullmqJobs' });

  it('skips a job that somebody else requeued, also if it has failed again by then', async () => {
    const queue = connect(unique('calls'));
    const connection = { host: '127.0.0.1', port: server.port, socketTimeout: 60_000 };
    const logger = collectingLogger();
    const start = () =>
      createBullmqWorker({
        ...{ Worker, queueName: queue.name, connection, logger },
        on: {
          'call:completed': () => {
            throw new Error('the CRM is down');
          },
        },
      });
    const isDead = () => waitFor(async () => (await queue.getFailedCount()) === 1);
    await bullmqQueue(queue, { maxRuns: 1, logger }).enqueue(queuedCall(unique('call')));
    const first = start();
    await isDead();
    await first.close();
    const other = bullmqDeadJobs(queue);
    const [{ id } = { id: '' }] = (await other.list()).letters;

    const late = bullmqDeadJobs({
      getJobs: (types, from, to, asc) => queue.getJobs(types, from, to, asc),
      getFailedCount: () => queue.getFailedCount(),
      async getJob(wanted: string) {
        const job = (await queue.getJob(wanted))!;
        const retry = job.retry.bind(job);
        return Object.assign(job, {
          async retry(state: 'failed') {
            expect(await other.requeue(id)).toBe(true);
            const refused = await retry(state).catch((error: unknown) => error);
            const second = start();
            await isDead();
            await second.close();
            throw refused;
          },
        });
      },
    });
    expect(await late.requeue(id)).toBe(false);
    expect(await other.get(id)).toMatchObject({ attempt: 2 });
    await queue.close();
  });

  it('lists the others when some were requeued or removed meanwhile', async () => {
    const queue = connect(unique('calls'));
    const connection = { host: '127.0.0.1', port: server.port, socketTimeout: 60_000 };
    const hand = bullmqQueue(queue, { maxRuns: 1, logger: collectingLogger() });
    await Promise.all(Array.from({ length: 250 }, () => hand.enqueue(queuedCall(unique('call')))));
    const worker = createBullmqWorker({
      ...{ Worker, queueName: queue.name, connection, logger: collectingLogger() },
      on: {
        'call:completed': () => {
          throw new Error('the CRM is down');
        },
      },
    });
    await waitFor(async () => (await queue.getFailedCount()) === 250);
    await worker.close();
    const others = bullmqDeadJobs(queue);
    const ids = (await others.list({ limit: 1_000 })).letters.map(({ id }) => id);
    let isFirst = true;
    const deadJobs = bullmqDeadJobs({
      getJob: (id) => queue.getJob(id),
      getFailedCount: () => queue.getFailedCount(),
      async getJobs(types, from, to, asc) {
        const found = await queue.getJobs(types, from, to, asc);
        if (!isFirst) return found;
        isFirst = false;
        // BullMQ has read the ids of the first page, and then its jobs.
        await others.remove(ids[0]!);
        for (const id of ids.slice(1, 50)) expect(await others.requeue(id)).toBe(true);
        const jobs = await Promise.all(ids.slice(0, 100).map((id) => queue.getJob(id)));
        return jobs.filter(Boolean);
      },
    });
    const { letters } = await deadJobs.list({ limit: 1_000 });
    expect(letters.map(({ id }) => id)).toEqual(ids.slice(50));
    await queue.close();
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
