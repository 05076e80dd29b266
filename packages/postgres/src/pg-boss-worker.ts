import type { WorkerHealth, WorkerOptions, ExtraEvents, StandardSchema } from '@call-webhooks/core';
import {
  checkOptions,
  type CloseOptions,
  createJobProcessor,
  docsUrl,
  LeasedJobRun,
  loggedError,
  option,
  type PolledJob,
  safeLogger,
  startPollingWorker,
  withoutOptions,
} from '@call-webhooks/core/stores';
import { continueJob, fetchedJob, leasedJob } from './pg-boss-job.ts';
import {
  checkBoss,
  createQueues,
  deadQueueOf,
  isPgBoss10,
  maxRunsOf,
  nameRules,
  type PgBossClient,
  type PgBossNames,
} from './pg-boss.ts';

/** The options of the worker: the handlers, as a receiver has them, and how jobs are run. */
export interface PgBossWorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>
  extends Omit<WorkerOptions<Extra, Custom>, 'maxRuns'>, PgBossNames {
  /** Not an option here: set `maxRuns` of `pgBossQueue` instead. */
  maxRuns?: undefined;
  /** The maximum number of jobs that run at the same time in this process; 4 by default. */
  concurrency?: number | undefined;
  /** The time between two polls for new jobs, in milliseconds; 500 by default. */
  pollEvery?: number | undefined;
}

/** A running worker. */
export interface PgBossWorker {
  /** Stops taking jobs until `resume()` is called. Running jobs go on. */
  pause(): void;
  /** Takes jobs again after `pause()`. */
  resume(): void;
  /**
   * Checks whether a waiting job would be run, for a probe with `ready(worker)`. Each poll is a write,
   * and the last one has to have succeeded. The promise never rejects.
   */
  health(): Promise<WorkerHealth>;
  /**
   * Stops taking jobs, waits up to `graceMs` (10,000 ms by default) for running jobs, aborts the others
   * and returns them to pg-boss as failed. It ends within `graceMs` and one second, even if Postgres
   * does not answer. Stop pg-boss afterwards.
   */
  close(options?: CloseOptions): Promise<void>;
}

const rules = () => ({
  ...nameRules(),
  concurrency: option.default(option.count(1, 10_000), 4),
  pollEvery: option.default(option.milliseconds(1), 500),
  maxRuns: option.notHere('pgBossQueue'),
});

/**
 * Creates a worker that runs the jobs of a pg-boss queue. It fetches and completes jobs itself, because
 * `boss.work` does not await its own writes, and their failures would end the process.
 *
 * A job whose process died is run again after its `expireIn`, once pg-boss notices. After its last run,
 * it goes to `deadLetter` instead. If `deadLetter` fails, it is called again.
 * @throws WebhookError `invalid-options`
 * @example
 * const worker = createPgBossWorker(boss, { on: { 'call:completed': saveCall } });
 * closeOnSignal(worker, { resources: [() => boss.stop()] });
 */
export function createPgBossWorker<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(boss: PgBossClient, options: PgBossWorkerOptions<Extra, Custom>): PgBossWorker {
  const { queue: name, deadQueue: dead, schema, concurrency, pollEvery, maxRuns } = options;
  const own = ['queue', 'deadQueue', 'schema', 'concurrency', 'pollEvery', 'maxRuns'] as const;
  const handlers = withoutOptions(options, ...own);
  const settings = checkOptions('createPgBossWorker', rules(), {
    queue: name,
    deadQueue: dead,
    schema,
    concurrency,
    pollEvery,
    maxRuns,
  });
  checkBoss('createPgBossWorker', boss);
  const { queue, deadQueue = deadQueueOf(queue) } = settings;
  const processJob = createJobProcessor(handlers);
  const log = safeLogger(handlers.logger ?? console);
  const { redact } = handlers;
  const queues = { boss, queue, deadQueue, schema: settings.schema };
  // pg-boss 12 always sorts by priority, and warns about the option.
  const inOrder = isPgBoss10(boss) ? { priority: false } : {};
  let isReady = false;

  function polledJob(given: unknown, takenAt: number): PolledJob {
    const job = fetchedJob(given);
    const limit = maxRunsOf(job);
    const leasedWith = (runs: number) => ({ ...leasedJob(job, runs, queues), takenAt });
    if (limit !== undefined) return new LeasedJobRun(leasedWith(limit), processJob, log, redact);
    const leased = { ...leasedWith(1), complete: () => continueJob(job, queues) };
    return new LeasedJobRun(leased, () => Promise.resolve({ status: 'done' }), log, redact);
  }

  return startPollingWorker({
    concurrency: settings.concurrency,
    pollEvery: settings.pollEvery,
    onClosed: () => processJob.close(),
    async take(limit) {
      if (!isReady) await createQueues(boss, queue, deadQueue);
      isReady = true;
      const fetching = { batchSize: limit, includeMetadata: true, ...inOrder } as const;
      const takenAt = performance.now();
      const fetched = await boss.fetch(queue, fetching);
      return { jobs: fetched.map((job) => polledJob(job, takenAt)) };
    },
    onError(error) {
      const { text, err } = loggedError(error, redact);
      log.error(
        { queue, err, docs: docsUrl('queues.md#pg-boss') },
        `call-webhooks: pg-boss is failing: ${text}`,
      );
    },
  });
}
