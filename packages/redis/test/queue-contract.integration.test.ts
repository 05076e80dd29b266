import * as runner from '@jest/globals';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  queuedCall,
  redisServer,
  unique,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import { queueContractTests } from '@call-webhooks/store-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { refusals } from './refusals.ts';

describeWithProgram('redis-server', 'BullMQ on a real server', () => {
  let server: RedisServer;
  let admin: Redis;
  const logger = collectingLogger();
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
    admin = new Redis(server.port, '127.0.0.1', { socketTimeout: 60_000 });
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  queueContractTests(runner, {
    name: 'bullmqQueue',
    open({ maxRuns, concurrency }) {
      const connection = { host: '127.0.0.1', port: server.port, socketTimeout: 60_000 };
      const queueName = unique('calls');
      const queue = new Queue(queueName, { connection });
      return Promise.resolve({
        queue: bullmqQueue(queue, { maxRuns, logger }),
        async startWorker(handlers) {
          const backoff = { initialDelay: 2, maxDelay: 20 };
          const made = createBullmqWorker({
            ...{ Worker, queueName, connection, concurrency, backoff },
            ...handlers,
          });
          await made.worker.waitUntilReady();
          return made;
        },
        refusals: refusals(() => admin),
        async deadLetters() {
          const failed = await queue.getFailed();
          return failed.map(({ data }) => data as QueuedDelivery);
        },
        close: () => queue.close(),
      });
    },
  });

  it('warns at the start where the server keeps no append-only file; not where it does, or does not say', async () => {
    const asked = async (connection: object) => {
      const lines = collectingLogger();
      const queue = new Queue(unique('calls'), {
        connection: { host: '127.0.0.1', port: server.port, socketTimeout: 60_000, ...connection },
      });
      const hand = bullmqQueue(queue, { logger: lines });
      await hand.enqueue(queuedCall('call-1')); // on the same connection, so the question is answered
      await hand.enqueue(queuedCall('call-2'));
      await queue.close();
      return lines.lines;
    };
    expect(await asked({})).toEqual([expect.stringContaining('appendonly set to no')]);
    await admin.acl('SETUSER', 'managed', 'on', '>pass', '~*', '&*', '+@all', '-config');
    expect(await asked({ username: 'managed', password: 'pass' })).toEqual([]);
    await admin.config('SET', 'appendonly', 'yes');
    expect(await asked({})).toEqual([]);
    await admin.config('SET', 'appendonly', 'no');
  });
});
