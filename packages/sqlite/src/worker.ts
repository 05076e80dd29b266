import type { WorkerHealth, WorkerOptions, ExtraEvents, StandardSchema } from '@call-webhooks/core';
import {
  type BackoffOptions,
  checkOptions,
  type CloseOptions,
  createJobProcessor,
  docsUrl,
  exponentialBackoff,
  LeasedJobRun,
  loggedError,
  option,
  type PolledJob,
  safeLogger,
  startPollingWorker,
  startRetention,
  withoutOptions,
} from '@call-webhooks/core/stores';
import { MAX_LEASE_MS, type QueueStats, type TakenJob } from './jobs.ts';
import { jobsOf, type SqliteQueue } from './queue.ts';

/** The options of the worker: the handlers, as a receiver has them, and how jobs are run. */
export interface SqliteWorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends WorkerOptions<Extra, Custom> {
  /**
   * The maximum number of runs of a job before it is dead; 100 by default, which takes about four days
   * with the default backoff.
   */
  maxRuns?: number | undefined;
  /** The maximum number of jobs that run at the same time in this process; 4 by default. */
  concurrency?: number | undefined;
  /**
   * The time between two runs of a job, in milliseconds. It grows from `initialDelay` (5,000 by
   * default) to `maxDelay` (3,600,000 by default).
   */
  backoff?: BackoffOptions | undefined;
  /**
   * How long a job is leased to this worker, in milliseconds: up to 900,000 (15 minutes), by default
   * 60,000. The lease is renewed every third of this time.
   */
  leaseFor?: number | undefined;
  /**
   * The time between two polls for jobs that other processes added, in milliseconds; 500 by default.
   */
  pollEvery?: number | undefined;
}

/** A running worker. */
export interface SqliteWorker {
  /** Stops taking jobs until `resume()` is called. Running jobs go on. */
  pause(): void;
  /** Takes jobs again after `pause()`. */
  resume(): void;
  /** Returns the number of jobs of the whole queue in each state. */
  stats(): Promise<QueueStats>;
  /**
   * Checks whether a waiting job would be run, for a probe with `ready(worker)`. The promise never
   * rejects.
   */
  health(): Promise<WorkerHealth>;
  /**
   * Stops taking jobs, waits up to `graceMs` (10,000 ms by default) for running jobs, aborts the others
   * and releases them. Close the database afterwards.
   */
  close(options?: CloseOptions): Promise<void>;
}

const rules = () => ({
  concurrency: option.default(option.count(1, 10_000), 4),
  backoff: option.backoff(5_000, 3_600_000),
  leaseFor: option.default(option.milliseconds(10, MAX_LEASE_MS), 60_000),
  pollEvery: option.default(option.milliseconds(1), 500),
  maxRuns: option.default(option.count(1, 1_000_000), 100),
});

/**
 * Creates a worker that runs the jobs of a `sqliteQueue`, in this process or in another one that shares
 * the file. A job whose process died is run again when its lease has expired. The worker keeps the
 * process alive until `close()` is called.
 * @throws WebhookError `invalid-options`
 * @example
 * const worker = createSqliteWorker(queue, { on: { 'call:completed': saveCall } });
 * closeOnSignal(worker);
 */
export function createSqliteWorker<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(queue: SqliteQueue, options: SqliteWorkerOptions<Extra, Custom>): SqliteWorker {
  const { concurrency, backoff, leaseFor, pollEvery, maxRuns } = options;
  const own = ['concurrency', 'backoff', 'leaseFor', 'pollEvery', 'maxRuns'] as const;
  const handlers = withoutOptions(options, ...own);
  const settings = checkOptions('createSqliteWorker', rules(), {
    concurrency,
    backoff,
    leaseFor,
    pollEvery,
    maxRuns,
  });
  const process = createJobProcessor(handlers);
  const jobs = jobsOf('createSqliteWorker', queue);
  const log = safeLogger(handlers.logger ?? console);
  const run = { ...settings, backoff: exponentialBackoff(settings.backoff) };
  const running = new Set<number>();
  const retention = startRetention(
    { 'dead jobs': queue },
    { logger: log, redact: handlers.redact },
  );

  function polledJob({ id, job }: TakenJob, takenAt: number): PolledJob {
    const leased = new LeasedJobRun({ ...job, takenAt }, process, log, handlers.redact);
    return {
      async run(signal) {
        running.add(id);
        await leased.run(signal).finally(() => running.delete(id));
      },
      release: () => leased.release(),
    };
  }

  const worker = startPollingWorker({
    concurrency: settings.concurrency,
    pollEvery: settings.pollEvery,
    onClosed: () => Promise.all([process.close(), retention?.close()]),
    ping: () => jobs.ping(),
    async take(limit) {
      const takenAt = performance.now();
      const { jobs: taken, nextIn } = await jobs.take(limit, run, running);
      return { jobs: taken.map((job) => polledJob(job, takenAt)), nextIn };
    },
    onError(error) {
      const { text, err } = loggedError(error, handlers.redact);
      log.error(
        { err, docs: docsUrl('queues.md#sqlite') },
        `call-webhooks: the SQLite queue is failing: ${text}`,
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
    health: () => worker.health(),
    close(closing) {
      jobs.listeners.delete(wake);
      return worker.close(closing);
    },
  };
}
