import {
  createWorkerHandler,
  startPollingWorker,
  type ExtraEvents,
  type StandardSchema,
  type WorkerOptions,
} from '@call-webhooks/core';
import { PgBossRun } from './pg-boss-run.ts';
import { createQueues } from './create-queues.ts';
import { deadLetterName, DEFAULT_QUEUE } from './pg-boss-queue.ts';
import type { PgBossClient, PgBossJob } from './pg-boss.ts';

/** The handlers, as a receiver has them, and how jobs are run. The number of attempts is the job's own. */
export interface PgBossWorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends Omit<WorkerOptions<Extra, Custom>, 'maxAttempts'> {
  /** As the queue's; `call-webhooks` by default. */
  queue?: string | undefined;
  /** As the queue's; the queue's name with `-dead` by default. */
  deadLetterQueue?: string | undefined;
  /** Jobs run at once; 4 by default. */
  concurrency?: number | undefined;
  /** Milliseconds between looks for new jobs; 500 by default. */
  pollEvery?: number | undefined;
}

/** A running worker. */
export interface PgBossWorker {
  /** Takes no new jobs until `resume()`; running ones go on. */
  pause(): void;
  resume(): void;
  /**
   * Takes no new job, waits for the running ones, aborts those that are not done in time and gives
   * them back as failed. Stop pg-boss after it.
   * @param options.graceMs milliseconds to wait; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Runs the deliveries of a pg-boss queue. It fetches and settles jobs itself: `boss.work` does not
 * wait for its own writes, and their failures would end the process.
 *
 * A job whose process died is run again once its `expireInSeconds` are over and pg-boss noticed; after
 * its last attempt it is handed to `deadLetter` instead.
 * @throws WebhookError `invalid-options`
 */
export function createPgBossWorker<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(boss: PgBossClient, options: PgBossWorkerOptions<Extra, Custom>): PgBossWorker {
  const {
    queue = DEFAULT_QUEUE,
    deadLetterQueue = deadLetterName(queue),
    concurrency = 4,
    pollEvery = 500,
    ...handlers
  } = options;
  const { logger = console } = handlers;
  const shop = { boss, queue, deadLetterQueue, logger, handle: createWorkerHandler(handlers) };
  let prepared = false;
  let failing = false;
  return startPollingWorker({
    concurrency,
    pollEvery,
    async take(most) {
      if (!prepared) await createQueues(boss, queue, deadLetterQueue);
      prepared = true;
      const fetching = { batchSize: most, includeMetadata: true, priority: false } as const;
      const jobs = (await boss.fetch(queue, fetching)) as PgBossJob[];
      failing = false;
      return { jobs: jobs.map((job) => new PgBossRun(job, shop)) };
    },
    onError(error) {
      if (failing) return; // one line an outage
      failing = true;
      const text = error instanceof Error ? error.message : String(error);
      logger.error(`call-webhooks: pg-boss fails: ${text}`);
    },
  });
}
