import { WebhookError, type Queue } from '@call-webhooks/core';
import { deadJobs, type DeadJobs } from '@call-webhooks/core/stores';
import type { SqliteDatabase } from './database.ts';
import { Jobs, type QueueStats } from './jobs.ts';
import type { SqliteOptions } from './schema.ts';

/** The options of `sqliteQueue`. */
export interface SqliteQueueOptions extends SqliteOptions {
  /**
   * How long a dead job is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10
   * years. By default, dead jobs are kept until they are requeued or removed. A receiver or a worker of
   * the queue removes the expired ones.
   */
  keepFor?: number | undefined;
}

/** A queue in a SQLite file. Its methods reject with the client's error. */
export interface SqliteQueue extends Queue {
  /** Resolves if the queue can take a delivery. */
  ping(): Promise<void>;
  /** Returns the number of jobs in each state. */
  stats(): Promise<QueueStats>;
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
 * Creates a queue in a SQLite file, which any number of processes on one machine can share. Run its
 * jobs with `createSqliteWorker`. An event is queued only once while its job waits, runs or is dead,
 * and for `rememberFor` after it was handled.
 *
 * It sets WAL, `synchronous = FULL`, `wal_autocheckpoint = 4000`, a short `busy_timeout` and a page
 * cache of at least 16 MB on the database handle. You own the handle, and close it.
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
    keepFor: jobs.keepFor,
    now: jobs.now,
    removeExpired: (turn) => jobs.removeExpired(turn),
  };
  jobsOfQueue.set(queue, jobs);
  return queue;
}

/** How many dead jobs are read at once. */
const PAGE = 200;

/**
 * Returns the dead jobs of a queue as dead letters, for `redrive({ deadJobs })`. They are kept until
 * they are requeued or removed, or until `keepFor` is over. `requeue` runs a job once more, now; its
 * runs are counted on, and if this run fails, it is dead again. `remove` deletes the delivery of a job;
 * its event is still recognized as a duplicate for `rememberFor`. Both resolve with `false` if there is
 * no dead job with this id.
 * @throws WebhookError `invalid-options` for anything that `sqliteQueue` did not make
 * @example
 * const { queued } = await redrive({ deadJobs: sqliteDeadJobs(queue) });
 */
export function sqliteDeadJobs(queue: SqliteQueue): DeadJobs {
  const jobs = jobsOf('sqliteDeadJobs', queue);
  return deadJobs({
    isId: (id) => /^[1-9]\d{0,14}$/.test(id),
    page: ({ after, ...range }) =>
      jobs.deadAfter({ failedAt: after?.failedAt ?? 0, id: Number(after?.id ?? 0) }, range, PAGE),
    get: (id) => jobs.dead(Number(id)),
    requeue: (id) => jobs.retryDead(Number(id)),
    remove: (id) => jobs.discardDead(Number(id)),
  });
}
