import {
  createWorkerHandler,
  startPollingWorker,
  type ExtraEvents,
  type StandardSchema,
  type WorkerOptions,
} from '@call-webhooks/core';
import { defaultBackoff } from './backoff.ts';
import { JobRun } from './job-run.ts';
import type { QueueStats } from './jobs.ts';
import { jobsOf, type SqliteQueue } from './queue.ts';

/** The handlers, as a receiver has them, and how jobs are run. */
export interface SqliteWorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends WorkerOptions<Extra, Custom> {
  /** Runs of a job until it is among the dead letters; 100 by default, some four days with `backoff`'s default. */
  maxAttempts?: number | undefined;
  /** Jobs run at once; 4 by default. */
  concurrency?: number | undefined;
  /** Milliseconds from the failure of an attempt to the next; by default 5 s, twice as long each time, up to an hour. */
  backoff?: ((attempt: number) => number) | undefined;
  /** Milliseconds that a job is ours unless the lease is renewed, which happens at each third; 60,000 by default. */
  leaseFor?: number | undefined;
  /** Milliseconds between looks for jobs that other processes put in; 500 by default. */
  pollEvery?: number | undefined;
}

/** A running worker. */
export interface SqliteWorker {
  /** Takes no new jobs until `resume()`; running ones go on. */
  pause(): void;
  resume(): void;
  /** Of the whole queue. */
  stats(): Promise<QueueStats>;
  /**
   * Takes no new job, waits for the running ones, aborts those that are not done in time and gives
   * them back. Close the database after it.
   * @param options.graceMs milliseconds to wait; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Runs the deliveries of a queue, in this process or in another one on the same file. A job whose
 * process died is run again when its lease has run out. It keeps the process alive until `close()`.
 * @throws WebhookError `invalid-options`
 */
export function createSqliteWorker<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(queue: SqliteQueue, options: SqliteWorkerOptions<Extra, Custom>): SqliteWorker {
  const {
    concurrency = 4,
    backoff = defaultBackoff,
    leaseFor = 60_000,
    pollEvery = 500,
    maxAttempts = 100,
    ...handlers
  } = options;
  const jobs = jobsOf(queue);
  const { logger = console } = handlers;
  const shop = {
    jobs,
    handle: createWorkerHandler({ ...handlers, maxAttempts }),
    running: new Set<number>(),
    backoff,
    leaseFor,
    maxAttempts,
    logger,
  };
  let failing = false;
  const worker = startPollingWorker({
    concurrency,
    pollEvery,
    async take(most) {
      const { jobs: taken, nextIn } = await jobs.take(most, leaseFor, shop.running);
      failing = false;
      return { jobs: taken.map((job) => new JobRun(job, shop)), nextIn };
    },
    onError(error) {
      if (failing) return; // one line an outage
      failing = true;
      logger.error(
        `call-webhooks: the SQLite queue fails: ${error instanceof Error ? error.message : String(error)}`,
      );
    },
  });
  const wake = () => {
    worker.wake();
  };
  jobs.listeners.add(wake);
  return {
    pause() {
      worker.pause();
    },
    resume() {
      worker.resume();
    },
    stats: () => jobs.stats(),
    close(closing) {
      jobs.listeners.delete(wake);
      return worker.close(closing);
    },
  };
}
