import { WebhookError, type Queue } from '@call-webhooks/core';
import { type BackoffOptions, checkOptions, option } from '@call-webhooks/core/stores';
import {
  checkBoss,
  checkEncodingOf,
  createQueues,
  deadQueueOf,
  isPgBoss10,
  nameRules,
  probeQueue,
  retryLimitOf,
  sendOnce,
  type PgBossClient,
  type PgBossNames,
  type PgBossSendOptions,
} from './pg-boss.ts';
import { jobId } from './pg-boss-job-id.ts';
import { toJobData } from './pg-boss-data.ts';
import { expiredJobs } from './pg-boss-dead-jobs.ts';

/** The options of `pgBossQueue`. */
export interface PgBossQueueOptions extends PgBossNames {
  /**
   * The maximum number of runs of a job before it is dead; 5,000 by default, which takes three and a
   * half days, one run per minute.
   */
  maxRuns?: number | undefined;
  /**
   * The time between two runs of a job, in milliseconds, a multiple of 1,000; always 60,000 by default. In
   * pg-boss 12, the time grows to `maxDelay` if that is longer than `initialDelay`. pg-boss 10 could
   * not limit its growth, so there the time does not grow.
   */
  backoff?: BackoffOptions | undefined;
  /**
   * The maximum time of one run, in milliseconds, a multiple of 1,000: less than a day, by default
   * 300,000. After that, pg-boss gives the job to another worker.
   */
  expireIn?: number | undefined;
  /**
   * How long pg-boss keeps a job that has not been run to its end, in milliseconds; 30 days by default.
   * After that, pg-boss deletes the job without notice, and `deadLetter` is not called. Keep jobs for longer
   * than `maxRuns` runs take if each of them crashes its worker: up to `expireIn`, the `backoff` and two
   * minutes for each run, 28 days by default.
   */
  retainFor?: number | undefined;
  /**
   * How long a dead job is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10
   * years. By default, dead jobs are kept until they are requeued or removed. A receiver of the queue
   * removes the expired ones.
   */
  keepFor?: number | undefined;
}

const DAY_MS = 86_400_000;
const rules = () => {
  return {
    ...nameRules(),
    maxRuns: option.default(option.count(1, 1_000_000), 5_000),
    backoff: option.backoff(60_000, 60_000),
    expireIn: option.default(option.milliseconds(1_000, DAY_MS - 1_000), 300_000),
    retainFor: option.default(option.milliseconds(60_000, 3_650 * DAY_MS), 30 * DAY_MS),
    keepFor: option.keepFor(),
  };
};

/** A queue in pg-boss. */
export interface PgBossQueue extends Queue {
  /**
   * Creates the queue and its queue for dead jobs if they are missing. It is safe to run at every
   * start, and on several machines at once. Rejects with the error of pg-boss.
   * @throws WebhookError `invalid-options` if a queue has settings with which it would lose jobs
   */
  migrate(): Promise<void>;
}

/**
 * Creates a queue in pg-boss 10 or 12. Run its jobs with `createPgBossWorker` only: the worker reports
 * the jobs that it gives up, which pg-boss itself would not.
 *
 * The id of a job is derived from the key of its event. An event is therefore queued only once for as
 * long as pg-boss keeps its job: in pg-boss 10 for `archiveCompletedAfterSeconds` after it was done, 12
 * hours by default; in pg-boss 12 for `deleteAfterSeconds` of the queue, 7 days by default.
 *
 * Start pg-boss first, and add an `error` listener to it. Then call `migrate()`; otherwise the first
 * delivery does it.
 * @throws WebhookError `invalid-options`
 * @example
 * const queue = pgBossQueue(boss);
 * await queue.migrate();
 * const hook = callWebhooks({ secret, store, queue });
 */
export function pgBossQueue(boss: PgBossClient, options: PgBossQueueOptions = {}): PgBossQueue {
  const settings = checkOptions('pgBossQueue', rules(), options);
  checkBoss('pgBossQueue', boss);
  const { queue, deadQueue = deadQueueOf(queue), schema, keepFor } = settings;
  const sendOptions: Omit<PgBossSendOptions, 'id'> = {
    retryLimit: retryLimitOf(settings.maxRuns),
    ...retriesOf(boss, settings.backoff.initialDelay, options.backoff?.maxDelay),
    expireInSeconds: Math.ceil(settings.expireIn / 1_000),
    retentionSeconds: Math.ceil(settings.retainFor / 1_000),
    deadLetter: deadQueue,
  };
  let ready: Promise<void> | undefined;
  const again = (error: unknown): never => {
    ready = undefined; // the next delivery tries again
    throw error;
  };
  async function create(): Promise<void> {
    await checkEncodingOf(boss);
    await createQueues(boss, queue, deadQueue);
  }
  const migrate = () => (ready ??= create().catch(again));

  return {
    migrate,
    keepFor,
    removeExpired: expiredJobs(boss, { queue, deadQueue, schema }),
    async enqueue(delivery) {
      await migrate();
      const id = await jobId(delivery);
      await sendOnce(boss, queue, toJobData(delivery), { ...sendOptions, id }).catch(again);
    },
    async ping() {
      // If a queue was deleted, it is created again, as the next deliveries would.
      const found = await Promise.all([queue, deadQueue].map((name) => boss.getQueue(name)));
      if (!found.every(Boolean)) ready = undefined;
      await migrate();
      await probeQueue(boss, queue, deadQueue);
    },
  };
}

/** @throws WebhookError `invalid-options` for a growing delay in pg-boss 10 */
function retriesOf(boss: PgBossClient, initialDelay: number, maxDelay = initialDelay) {
  const retryDelay = Math.ceil(initialDelay / 1_000);
  if (maxDelay === initialDelay) return { retryDelay, retryBackoff: false };
  if (maxDelay > initialDelay && !isPgBoss10(boss))
    return { retryDelay, retryBackoff: true, retryDelayMax: Math.ceil(maxDelay / 1_000) };
  throw new WebhookError(
    'invalid-options',
    'Invalid options of pgBossQueue: backoff.maxDelay: expected the same as initialDelay, or more in pg-boss 12.',
  );
}
