import type { WorkerHealth, WorkerOptions, ExtraEvents, StandardSchema } from '@call-webhooks/core';
import {
  type BackoffOptions,
  checkOptions,
  type CloseOptions,
  createJobProcessor,
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
import { docsUrl } from '@call-webhooks/core/internal';
import { MAX_LEASE_MS, type QueueStats, type TakenJob } from './jobs.ts';
import { jobsOf, type SqliteQueue } from './queue.ts';

/** The handlers, as a receiver has them, and how jobs are run. */
export interface SqliteWorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends WorkerOptions<Extra, Custom> {
  /** How often a job is run until it is dead; 100 by default, about four days with the default backoff. */
  maxRuns?: number | undefined;
  /** How many jobs run at once; 4 by default. */
  concurrency?: number | undefined;
  /** Milliseconds between two attempts; from `initialDelay` 5,000 to `maxDelay` 3,600,000 by default. */
  backoff?: BackoffOptions | undefined;
  /**
   * How long a job is leased to this worker; milliseconds, 60,000 by default, at most 15 minutes. The
   * lease is renewed at each third.
   */
  leaseFor?: number | undefined;
  /** Milliseconds between two looks for jobs that other processes added; 500 by default. */
  pollEvery?: number | undefined;
}

/** A running worker. */
export interface SqliteWorker {
  /** Takes no new jobs until `resume()`. Running jobs go on. */
  pause(): void;
  resume(): void;
  /** How many jobs of the whole queue are in each state. */
  stats(): Promise<QueueStats>;
  /** Whether a job that waits would be run, for a probe with `ready(worker)`. Never rejects. */
  health(): Promise<WorkerHealth>;
  /**
   * Takes no new jobs, waits up to `graceMs` (10,000 ms) for running ones, aborts the others and
   * releases them. Close the database afterwards.
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
 * Runs the deliveries of a queue, in this process or in another one on the same file. A job whose
 * process died is run again when its lease has run out. It keeps the process alive until `close()`.
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
  const retention = startRetention({ 'dead jobs': queue }, { logger: log });

  function polledJob({ id, job }: TakenJob): PolledJob {
    const leased = new LeasedJobRun(job, process, log);
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
      const { jobs: taken, nextIn } = await jobs.take(limit, run, running);
      return { jobs: taken.map(polledJob), nextIn };
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
