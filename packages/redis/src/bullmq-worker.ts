import type { WorkerOptions } from '@call-webhooks/core';
import {
  createJobProcessor,
  type BackoffOptions,
  type CloseOptions,
  type ContextWithoutCompleteIn,
} from '@call-webhooks/core/stores';
import {
  checkOptions,
  DEFAULT_GRACE_MS,
  docsUrl,
  option,
  RELEASE_MS,
  RunningJobs,
  safeLogger,
  waitAtMost,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core/internal';
import { backoffStrategy } from './bullmq-backoff.ts';
import { giveBack, runBullmqJob, type BullmqJobLike } from './bullmq-job.ts';
import { keepLock } from './bullmq-lock.ts';
import { errorLog } from './error-log.ts';

/** The methods that are used of BullMQ's `Worker`. */
export interface BullmqWorkerLike {
  readonly opts: { lockDuration?: number | undefined };
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(doNotWaitActive?: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
}

/** The handlers, as a receiver has them, and how jobs are run. */
export interface BullmqWorkerOptions<
  Worker extends BullmqWorkerLike,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends Omit<WorkerOptions<Extra, Custom, ContextWithoutCompleteIn>, 'maxRuns'> {
  /** It is an option of `bullmqQueue`. */
  maxRuns?: undefined;
  /** BullMQ's class: `import { Worker } from 'bullmq'`. */
  Worker: new (name: string, processor: never, options: never) => Worker;
  /** The name of the queue. */
  queueName: string;
  /** As BullMQ takes it: connection options, or a client with `maxRetriesPerRequest: null`. */
  connection: object;
  /** How many jobs run at once in this process; 4 by default. */
  concurrency?: number | undefined;
  /** Milliseconds between two attempts; from `initialDelay` 5,000 to `maxDelay` 3,600,000 by default. */
  backoff?: BackoffOptions | undefined;
  /** How many workers may die in a job until it is given up; 5 by default. */
  maxCrashes?: number | undefined;
  /** More options of BullMQ's worker, such as `prefix`, `limiter` or `lockDuration`. */
  bullmq?: object | undefined;
}

/** A running worker, as `createBullmqWorker` returns it. */
export interface BullmqWorker<Worker> {
  /** BullMQ's worker, for its events. */
  readonly worker: Worker;
  /**
   * Takes no new jobs, waits up to `graceMs` (10,000 ms) for running ones and aborts the others. Jobs
   * that still do not end are run by another worker when their lock has run out. It ends within
   * `graceMs` and one second, even if Redis does not answer.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** How long handlers may take to end after they were aborted; milliseconds. */
const ABORT_MS = 300;
/** How long BullMQ's locks last by default; milliseconds. */
const LOCK_MS = 30_000;

const rules = <Worker>() => ({
  Worker: option.function<Worker>(),
  queueName: option.text(/./s, 'expected the name of the queue'),
  connection: option.object<object>(),
  concurrency: option.default(option.count(1, 10_000), 4),
  backoff: option.backoff(5_000, 3_600_000),
  maxCrashes: option.default(option.count(0, 1_000_000), 5),
  bullmq: option.optional(option.object<object>()),
  maxRuns: option.notHere('bullmqQueue'),
});

/**
 * Runs the deliveries that `bullmqQueue` keeps.
 *
 * A handler that fails is run again by BullMQ, with backoff. After the last attempt, after
 * `maxCrashes`, or at once if the payload is invalid, the delivery goes to `deadLetter`, and the job
 * stays among BullMQ's failed ones. There it can be retried. If `deadLetter` fails, it is called again.
 * @throws WebhookError `invalid-options`
 * @example
 * const worker = createBullmqWorker({ Worker, queueName: 'calls', connection, on: { 'call:completed': saveCall } });
 * closeOnSignal(worker);
 */
export function createBullmqWorker<
  Worker extends BullmqWorkerLike,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: BullmqWorkerOptions<Worker, Extra, Custom>): BullmqWorker<Worker> {
  const { Worker, queueName, connection, concurrency, backoff, ...rest } = options;
  const { maxCrashes, maxRuns, bullmq, ...handlers } = rest;
  const settings = checkOptions('createBullmqWorker', rules<typeof Worker>(), {
    ...{ Worker, queueName, connection, concurrency, backoff, maxCrashes, maxRuns, bullmq },
  });
  const process = createJobProcessor<Extra, Custom, ContextWithoutCompleteIn>(handlers);
  const strategy = backoffStrategy(settings.backoff);
  const log = safeLogger(handlers.logger ?? console);
  const running = new RunningJobs<BullmqJobLike>();
  let aborting = false;

  async function run(job: BullmqJobLike, token = ''): Promise<void> {
    // BullMQ hands out a job again when it lost its lock, also to the process that still runs it.
    const earlier = running.ids().filter(({ id }) => id === job.id);
    running.abort(earlier);
    await running.run(job, async (signal) => {
      const lockDuration = worker.opts.lockDuration ?? LOCK_MS;
      const stopRenewal = keepLock(job, token, {
        duration: lockDuration,
        signal,
        onLost() {
          log.warn(
            { queue: queueName, jobId: job.id, docs: docsUrl('queues.md#bullmq') },
            'call-webhooks: a job of BullMQ lost its lock. Its handler is aborted, and it runs again.',
          );
          running.abort([job]); // it may run elsewhere as well, and can't commit
        },
      });
      try {
        if (earlier.length > 0) await Promise.race([running.idle(earlier), aborted(signal)]);
        if (signal.aborted || aborting) await giveBack(job, token);
        const { maxCrashes } = settings;
        const how = { process, strategy, token, lockDuration, signal, maxCrashes };
        await runBullmqJob(job, how);
      } finally {
        stopRenewal();
      }
    });
  }

  const worker = new Worker(
    queueName,
    run as never,
    {
      concurrency: settings.concurrency,
      ...bullmq,
      connection,
      // Past its own limit BullMQ fails a job and tells nobody. Ours is reached before.
      maxStalledCount: 1e9,
      skipLockRenewal: true, // we renew them
      settings: { backoffStrategy: strategy },
    } as never,
  );
  worker.on('error', errorLog(log, handlers.redact));

  return {
    worker,
    async close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      const pausing = waitAtMost(RELEASE_MS, worker.pause(true));
      await waitAtMost(
        graceMs,
        pausing.then(() => running.idle()),
      );
      aborting = true;
      running.abort();
      if (running.size > 0) await waitAtMost(ABORT_MS, running.idle());
      await waitAtMost(RELEASE_MS - ABORT_MS, worker.close(running.size > 0));
    },
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
