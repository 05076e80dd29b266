import type { Handlers, Logger } from '@call-webhooks/core';
import { bullmqDeadJobs, bullmqQueue, createBullmqWorker, redisStore } from '@call-webhooks/redis';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteQueue,
  sqliteStore,
} from '@call-webhooks/sqlite';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import Database from 'libsql';

/** Where deliveries wait for a worker, and stay if they fail for good. */
export type Jobs = ReturnType<typeof openJobs>;

interface WorkerOptions {
  on: Handlers;
  logger: Logger;
}

export const openJobs = ({ REDIS_URL, SQLITE_FILE }: Partial<NodeJS.ProcessEnv>) =>
  REDIS_URL ? openRedis(REDIS_URL) : openSqlite(SQLITE_FILE ?? 'calls.db');

/** A file, which receivers and workers on this machine share. */
function openSqlite(file: string) {
  const db = new Database(file);
  const queue = sqliteQueue(db);
  const store = sqliteStore(db);
  return {
    store,
    queue,
    deadJobs: sqliteDeadJobs(queue),
    startWorker: (options: WorkerOptions) =>
      createSqliteWorker(queue, { log: store.log, ...options }),
    close: () => void db.close(),
  };
}

/** BullMQ on a server, for any number of machines. It must keep everything: see compose.yaml. */
function openRedis(url: string) {
  // After a failover, the old connections lead to a replica.
  const reconnectOnError = (error: Error) => error.message.includes('READONLY');
  // A firewall may drop a connection without a word: connect again if the server doesn't answer.
  const connection = { url, reconnectOnError, socketTimeout: 5_000 };
  const redis = new Redis(url, connection);
  // While the server is down, don't keep deliveries in memory: the service sends them again.
  const queue = new Queue('calls', { connection: { ...connection, enableOfflineQueue: false } });
  // BullMQ waits for a job for up to 10 s.
  const ofWorker = { ...connection, socketTimeout: 15_000 };
  for (const client of [redis, queue])
    client.on('error', (error: Error) => console.warn(`Redis: ${error.message}`));
  const store = redisStore(redis);
  return {
    store,
    queue: bullmqQueue(queue),
    deadJobs: bullmqDeadJobs(queue),
    startWorker: (options: WorkerOptions) =>
      createBullmqWorker({
        Worker,
        queueName: queue.name,
        connection: ofWorker,
        log: store.log,
        ...options,
      }),
    close: async () => {
      redis.disconnect(); // nobody uses it any more, and quit() would wait for a server that is down
      await queue.close().catch(() => queue.disconnect());
    },
  };
}
