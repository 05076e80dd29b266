import type { Queue } from '@call-webhooks/core';
import { retryLimitOf } from './attempts.ts';
import { createQueues } from './create-queues.ts';
import { jobId } from './job-id.ts';
import type { PgBossClient, PgBossSendOptions } from './pg-boss.ts';

export interface PgBossQueueOptions {
  /** The name of the queue; `call-webhooks` by default. */
  queue?: string | undefined;
  /** Where workers put what they gave up on; the queue's name with `-dead` by default. */
  deadLetterQueue?: string | undefined;
  /** Runs of a job until it is dead; 5,000 by default: three and a half days, a minute apart. */
  maxAttempts?: number | undefined;
  /** Seconds between two attempts; 60 by default. */
  retryDelay?: number | undefined;
  /** Twice as long after each attempt, up to 65,536 times `retryDelay`; off by default. */
  retryBackoff?: boolean | undefined;
  /** Seconds that one run may take; pg-boss then gives the job to somebody else. 300 by default. */
  expireInSeconds?: number | undefined;
  /** Days until pg-boss drops a job that nobody ran to its end; 14 by default. */
  retentionDays?: number | undefined;
}

export const DEFAULT_QUEUE = 'call-webhooks';
export const deadLetterName = (queue: string) => `${queue}-dead`;

/** A queue in pg-boss. */
export interface PgBossQueue extends Queue {
  /**
   * Makes the queue and its dead-letter queue where they are missing. Safe to run at every start, and
   * by several machines at once. Rejects with pg-boss's error.
   */
  migrate(): Promise<void>;
}

/**
 * A queue in pg-boss 10. The job's id comes from the event's key, so an event is queued once for as
 * long as pg-boss keeps its job (`archiveCompletedAfterSeconds`, 12 hours by default).
 *
 * Its jobs are for `createPgBossWorker`: it is the worker that gives up on one, and not pg-boss, which
 * tells nobody.
 *
 * Start pg-boss before, and listen to its `error`; then run `migrate()`, else the first delivery does.
 */
export function pgBossQueue(boss: PgBossClient, options: PgBossQueueOptions = {}): PgBossQueue {
  const {
    queue = DEFAULT_QUEUE,
    deadLetterQueue = deadLetterName(queue),
    maxAttempts = 5_000,
    retryDelay = 60,
    retryBackoff = false,
    expireInSeconds = 300,
    retentionDays = 14,
  } = options;
  const settings: Omit<PgBossSendOptions, 'id'> = {
    retryLimit: retryLimitOf(maxAttempts),
    retryDelay,
    retryBackoff,
    expireInSeconds,
    retentionDays,
    deadLetter: deadLetterQueue,
  };
  let ready: Promise<void> | undefined;
  const migrate = () =>
    (ready ??= createQueues(boss, queue, deadLetterQueue).catch((error: unknown) => {
      ready = undefined; // the next delivery tries again
      throw error;
    }));

  return {
    migrate,
    async enqueue(delivery) {
      await migrate();
      const id = jobId(delivery);
      if ((await boss.send(queue, delivery, { ...settings, id })) !== null) return;
      // Either pg-boss has the job, or it has no such queue: it says null to both.
      if (await boss.getJobById(queue, id, { includeArchive: true })) return;
      ready = undefined;
      throw new Error(`pg-boss took no job: is there still a queue "${queue}"?`);
    },
    async ping() {
      await boss.getQueue(queue);
    },
  };
}
