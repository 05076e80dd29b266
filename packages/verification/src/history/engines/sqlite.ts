import { createSqliteWorker, sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { sqliteEffects } from './sqlite-effects.ts';
import { CONCURRENCY, LEASE_MS, QUEUE_ATTEMPTS, type Engine } from './engine.ts';

export const sqlite: Engine = {
  store: (file) => Promise.resolve(sqliteStore(new Database(file))),
  queue: (file) => Promise.resolve(sqliteQueue(new Database(file))),
  deadJobs(file) {
    const queue = sqliteQueue(new Database(file));
    return Promise.resolve({
      asNewJob: false,
      async retryAll(onRetry) {
        const dead = await queue.deadLetters({ limit: 1_000 });
        for (const { id, delivery } of dead) {
          onRetry(delivery.key ?? '');
          await queue.retryDead(id);
        }
        return dead.length;
      },
    });
  },
  startWorker(file, handlers) {
    createSqliteWorker(sqliteQueue(new Database(file)), {
      ...handlers,
      concurrency: CONCURRENCY,
      maxAttempts: QUEUE_ATTEMPTS,
      leaseFor: LEASE_MS,
      backoff: { initialDelay: 100, maxDelay: 100 },
      pollEvery: 100,
    });
    return Promise.resolve();
  },
  effects: sqliteEffects,
};
