import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { endsByItself, WORKER_PRINTED, workerProgram } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { useRedis } from './use-redis.ts';

describeWithProgram('redis-server', 'a process with a store, and a queue of BullMQ', () => {
  const test = useRedis({ durable: true });

  it('ends by itself once its worker, its queue and its clients are closed', async () => {
    const program = workerProgram({
      imports: `import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, createBullmqWorker, redisStore } from '@call-webhooks/redis';`,
      open: `const connection = { host: '127.0.0.1', port: ${String(test.server.port)}, socketTimeout: 60_000 };
const client = new Redis(connection);
const store = redisStore(client);
const jobs = new Queue('calls', { connection });
const queue = bullmqQueue(jobs);
const startWorker = (options: object) =>
  createBullmqWorker({ Worker, queueName: 'calls', connection, ...options });`,
      close: 'await jobs.close();\nawait client.quit();',
    });
    expect(await endsByItself(fileURLToPath(new URL('.', import.meta.url)), program)).toBe(
      WORKER_PRINTED,
    );
  });
});
