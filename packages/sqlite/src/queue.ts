import { WebhookError, type Queue } from '@call-webhooks/core';
import type { SqliteDatabase } from './database.ts';
import type { DeadJob, QueueStats } from './job-rows.ts';
import { Jobs } from './jobs.ts';
import type { SqliteOptions } from './options.ts';

/** Options of `sqliteQueue`. */
export type SqliteQueueOptions = SqliteOptions;

/** A queue in a SQLite file. Its methods reject with the client's error. */
export interface SqliteQueue extends Queue {
  /** Resolves when the queue can take a delivery. */
  ping(): Promise<void>;
  stats(): Promise<QueueStats>;
  /**
   * Lists dead jobs, oldest first. They are kept until you retry or discard them.
   * @param options.limit how many; 100 by default
   */
  deadLetters(options?: { limit?: number }): Promise<DeadJob[]>;
  /**
   * Runs a dead job once more, now. Its attempts go on counting. If this run fails, the job is dead
   * again. Resolves with `false` if there is no dead job with this id.
   */
  retryDead(id: number): Promise<boolean>;
  /**
   * Deletes the delivery of a dead job. Its event stays known as a duplicate for `rememberFor`.
   * Resolves with `false` if there is no dead job with this id.
   */
  discardDead(id: number): Promise<boolean>;
}

const jobsOfQueue = new WeakMap<SqliteQueue, Jobs>();

/**
 * @param creator the function that was called with the queue
 * @throws WebhookError `invalid-options` for anything that `sqliteQueue` did not make
 */
export function jobsOf(creator: string, queue: SqliteQueue): Jobs {
  const jobs = jobsOfQueue.get(queue);
  if (jobs) return jobs;
  throw new WebhookError(
    'invalid-options',
    `Invalid queue of ${creator}: expected one that sqliteQueue() of the same package made.`,
  );
}

/**
 * Keeps deliveries in a SQLite file, which any number of processes of one machine can share. An event
 * is queued once while its job waits, runs or is dead, and for `rememberFor` after it was handled.
 *
 * It sets WAL, `synchronous = FULL`, `wal_autocheckpoint = 4000`, a short `busy_timeout` and a page
 * cache of at least 16 MB on the handle. The handle stays yours to close.
 * @throws WebhookError `invalid-options`
 * @example
 * const queue = sqliteQueue(new Database('calls.db'));
 * app.use('/hook', callWebhooks({ secret, queue }));
 */
export function sqliteQueue(db: SqliteDatabase, options: SqliteQueueOptions = {}): SqliteQueue {
  const jobs = new Jobs(db, options);
  const queue: SqliteQueue = {
    enqueue: (delivery) => jobs.add(delivery),
    ping: () => jobs.ping(),
    stats: () => jobs.stats(),
    deadLetters: ({ limit = 100 } = {}) => jobs.deadLetters(limit),
    retryDead: (id) => jobs.retryDead(id),
    discardDead: (id) => jobs.discardDead(id),
  };
  jobsOfQueue.set(queue, jobs);
  return queue;
}
