import {
  createWorkerHandler,
  WebhookError,
  type ExtraEvents,
  type QueuedDelivery,
  type StandardSchema,
  type WorkerHandler,
  type WorkerOptions,
} from '@call-webhooks/core';
import { BACKOFF_TYPE, backoffStrategy, type BackoffOptions } from './bullmq-backoff.ts';
import { errorLog } from './error-log.ts';
import { RunningJobs, within } from './running-jobs.ts';

/** What we call of BullMQ's `Worker`. */
export interface BullmqWorkerLike {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'lockRenewalFailed', listener: (jobIds: string[]) => void): unknown;
  pause(doNotWaitActive?: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
}

/** What we read of BullMQ's `Job`. */
export interface BullmqJobLike {
  id?: string | undefined;
  data: QueuedDelivery;
  attemptsMade: number;
  attemptsStarted: number;
  stalledCounter: number;
  opts: { attempts?: number | undefined };
}

export interface BullmqWorkerOptions<
  Worker extends BullmqWorkerLike,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends Omit<WorkerOptions<Extra, Custom>, 'maxAttempts'> {
  /** BullMQ's class: `import { Worker } from 'bullmq'`. */
  Worker: new (name: string, processor: never, options: never) => Worker;
  /** The name of the queue. */
  queueName: string;
  /** As BullMQ takes it: connection options, or a client whose `maxRetriesPerRequest` is `null`. */
  connection: object;
  /** Jobs that run at once in this process; 10 by default. */
  concurrency?: number | undefined;
  backoff?: BackoffOptions | undefined;
  /** A job in which more workers died than this is given up on; 5 by default. */
  maxCrashes?: number | undefined;
  /** Further options of BullMQ's worker, such as `prefix`, `limiter` or `lockDuration`. */
  bullmq?: object | undefined;
}

export interface BullmqWorker<Worker> {
  /** BullMQ's own, for its events. */
  readonly worker: Worker;
  /**
   * Graceful shutdown: takes no new job, waits for the running ones, then aborts their signals. What
   * does not end is left to other workers, which take it over when its lock has run out.
   * @param options.graceMs milliseconds to wait for handlers; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** How long what was aborted may take to end; milliseconds. */
const ABORTED_MS = 300;
/** How long the server may take for what a shutdown asks of it; milliseconds. */
const LAST_MS = 2_000;

/**
 * A BullMQ worker that runs what `bullmqQueue` took, with the same typed handlers as a receiver.
 *
 * A handler that throws is run again by BullMQ, with back-off. After the last attempt, at once for a
 * payload that can never be handled, and after `maxCrashes`, the delivery goes to `deadLetter`, and
 * the job stays among BullMQ's failed ones, from where it can be retried.
 * @throws WebhookError `invalid-options`
 */
export function createBullmqWorker<
  Worker extends BullmqWorkerLike,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: BullmqWorkerOptions<Worker, Extra, Custom>): BullmqWorker<Worker> {
  const { Worker, queueName, connection, bullmq, concurrency = 10, ...others } = options;
  const { backoff, maxCrashes = 5, ...handling } = others;
  const handle = createWorkerHandler<Extra, Custom>(handling);
  const running = new RunningJobs();
  const process = (job: BullmqJobLike) =>
    running.run(job.id ?? '', (signal) => run(handle, job, maxCrashes, signal));

  const worker = new Worker(
    queueName,
    process as never,
    {
      concurrency,
      ...bullmq,
      connection,
      // Past its own limit BullMQ fails a job without a word to anybody: ours comes before.
      maxStalledCount: 1e9,
      settings: { backoffStrategy: backoffs(backoff) },
    } as never,
  );
  worker.on('error', errorLog(options.logger ?? console));
  // A run without its lock may run elsewhere as well, and can't commit.
  worker.on('lockRenewalFailed', (jobIds) => {
    running.abort(jobIds);
  });

  return {
    worker,
    async close({ graceMs = 10_000 } = {}) {
      await within(LAST_MS, worker.pause(true));
      await running.idle(graceMs);
      running.abort();
      if (running.size > 0) await running.idle(ABORTED_MS);
      await within(LAST_MS, worker.close(running.size > 0));
    },
  };
}

/** One run, as BullMQ wants it told: `UnrecoverableError` (known by its name) is not run again. */
async function run(
  handle: WorkerHandler,
  job: BullmqJobLike,
  maxCrashes: number,
  signal: AbortSignal,
): Promise<void> {
  const crashes = job.stalledCounter;
  const abandonReason =
    crashes > maxCrashes ? new Error(`${crashes} workers died in this job.`) : undefined;
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  try {
    await handle(job.data, { attempt: job.attemptsStarted, isLastAttempt, abandonReason, signal });
  } catch (error) {
    const isPoison = error instanceof WebhookError && error.code === 'invalid-payload';
    throw isPoison || abandonReason ? unrecoverable(error as Error) : error;
  }
}

const unrecoverable = (cause: Error) =>
  Object.assign(new Error(cause.message, { cause }), { name: 'UnrecoverableError' });

/** `settings.backoffStrategy` of BullMQ: ours for our jobs, and none for jobs of another kind. */
function backoffs(options: BackoffOptions | undefined) {
  const ours = backoffStrategy(options);
  return (attemptsMade: number, type?: string) => (type === BACKOFF_TYPE ? ours(attemptsMade) : 0);
}
