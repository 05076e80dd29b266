import { afterAll, beforeAll, jest } from '@jest/globals';
import {
  describeWith,
  queueBattery,
  redisServer,
  unique,
  type RedisServer,
} from '@call-webhooks/testing';
import type { QueuedDelivery } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { bullmqQueue, createBullmqWorker } from '../src/index.ts';

jest.setTimeout(15_000);

describeWith('redis-server', 'BullMQ on a real server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
  });
  afterAll(() => server.stop());

  queueBattery({
    name: 'bullmqQueue',
    open({ maxAttempts, concurrency }) {
      const connection = { host: '127.0.0.1', port: server.port };
      const queueName = unique('calls');
      const queue = new Queue(queueName, { connection });
      return Promise.resolve({
        queue: bullmqQueue(queue, { attempts: maxAttempts }),
        async work(handling) {
          const backoff = { first: 2, longest: 20 };
          const made = createBullmqWorker({
            ...{ Worker, queueName, connection, concurrency, backoff },
            ...handling,
          });
          await made.worker.waitUntilReady();
          return made;
        },
        async deadLetters() {
          const failed = await queue.getFailed();
          return failed.map(({ data }) => data as QueuedDelivery);
        },
        close: () => queue.close(),
      });
    },
  });
});
