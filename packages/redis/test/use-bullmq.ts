import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import {
  collectingLogger,
  redisServer,
  unique,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import { type WorkerHandlers } from '@call-webhooks/store-tests';
import { Queue, Worker } from 'bullmq';
import { bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { deliverer, type Deliverer } from './deliverer.ts';

/** A queue and a receiver of its own for each test, on one durable server. */
export interface BullmqUnderTest {
  server: RedisServer;
  queue: Queue;
  receiver: Deliverer;
}

/** Options of BullMQ's worker: a job is taken over when its worker was silent for a moment. */
export const SHORT_LOCKS = { lockDuration: 300, stalledInterval: 100, runRetryDelay: 100 };

/** Call it in a `describe`. What it returns is filled in before each test. */
export function useBullmq() {
  const test = {} as BullmqUnderTest;
  const toClose: (() => Promise<void>)[] = [];
  const connection = () => ({
    host: '127.0.0.1',
    port: test.server.port,
    socketTimeout: 60_000,
  });
  beforeAll(async () => {
    test.server = await redisServer({ durable: true });
    await test.server.start();
  });
  afterAll(() => test.server.stop());
  beforeEach(() => {
    test.queue = new Queue(unique('calls'), { connection: connection() });
    test.queue.on('error', () => undefined);
    test.receiver = deliverer({ queue: bullmqQueue(test.queue) });
  });
  afterEach(async () => {
    await test.receiver.close();
    for (const close of toClose.splice(0)) await close();
    await test.queue.close();
  });

  /** Starts a worker whose jobs are taken over when it was silent for a moment. */
  const work = (handlers: WorkerHandlers, more: object = {}) => {
    const made = createBullmqWorker({
      ...{ Worker, queueName: test.queue.name, connection: connection() },
      ...{ backoff: { initialDelay: 20, maxDelay: 200 }, logger: collectingLogger() },
      bullmq: SHORT_LOCKS,
      ...more,
      ...handlers,
    });
    toClose.push(() => made.close({ graceMs: 0 }));
    return made;
  };
  return { test, work };
}
