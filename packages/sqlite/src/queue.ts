import type { Queue } from '@call-webhooks/core';
import type { SqliteDatabase } from './database.ts';
import { Jobs, type DeadJob, type QueueStats } from './jobs.ts';

export interface SqliteQueueOptions {
  /** What the names of the tables begin with; `call_webhooks_` by default. */
  prefix?: string | undefined;
  /** How long a handled event is known as a duplicate; milliseconds, 24 hours by default. */
  rememberFor?: number | undefined;
  /** The clock, in milliseconds; `Date.now` by default. All processes on the file need the same. */
  now?: (() => number) | undefined;
}

/** A queue in a SQLite file. What it rejects with is the client's error. */
export interface SqliteQueue extends Queue {
  ping(): Promise<void>;
  stats(): Promise<QueueStats>;
  /** The jobs that were given up on, oldest first; they stay until they are retried or removed. */
  deadLetters(options?: { limit?: number }): Promise<DeadJob[]>;
  /** Lets a dead job run again; its attempts go on counting. `false`: there is none. */
  retryDead(id: number): Promise<boolean>;
  /** Forgets a dead job's delivery; its event stays known as a duplicate. `false`: there is none. */
  removeDead(id: number): Promise<boolean>;
}

const jobsOfQueue = new WeakMap<SqliteQueue, Jobs>();

/** @throws TypeError for something that `sqliteQueue` did not make */
export function jobsOf(queue: SqliteQueue): Jobs {
  const jobs = jobsOfQueue.get(queue);
  if (!jobs) throw new TypeError('expected a queue that sqliteQueue() of the same package made');
  return jobs;
}

/**
 * A queue for one machine: deliveries in a SQLite file that any number of its processes may share.
 * An event that it has, or had within `rememberFor`, is not taken in twice.
 *
 * It sets WAL, synchronous FULL and a short busy_timeout on the handle, which stays yours to close.
 * @throws WebhookError `invalid-options`
 */
export function sqliteQueue(db: SqliteDatabase, options: SqliteQueueOptions = {}): SqliteQueue {
  const jobs = new Jobs(db, options);
  const queue: SqliteQueue = {
    enqueue: (delivery) => jobs.add(delivery),
    ping: () => jobs.ping(),
    stats: () => jobs.stats(),
    deadLetters: ({ limit = 100 } = {}) => jobs.deadLetters(limit),
    retryDead: (id) => jobs.revive(id),
    removeDead: (id) => jobs.bury(id),
  };
  jobsOfQueue.set(queue, jobs);
  return queue;
}
