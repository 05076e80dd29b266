import type {
  Logger,
  QueuedDelivery,
  Redact,
  WorkerHealth,
  WorkerOptions,
  ExtraEvents,
  StandardSchema,
} from '@call-webhooks/core';
import {
  type BackoffOptions,
  checkOptions,
  type CloseOptions,
  type ContextWithoutCompleteIn,
  createJobProcessor,
  DEFAULT_GRACE_MS,
  docsUrl,
  exponentialBackoff,
  LineLimit,
  loggedError,
  option,
  RELEASE_MS,
  RunningJobs,
  safeLogger,
  waitAtMost,
  withoutOptions,
  WorkerNotes,
} from '@call-webhooks/core/stores';
import { pingBullmq, type Pinged } from './bullmq-ping.ts';
import {
  BACKOFF_TYPE,
  checkConnection,
  refuseIdleWorker,
  refuseSettings,
} from './bullmq-settings.ts';
import { checkDatabase } from './database.ts';
import { warnOfDeadConnectionsOfBullmq } from './dead-connections.ts';
import { explained } from './scripts.ts';
import { clientOf } from './server-warnings.ts';

/** The part of BullMQ's `Worker` that is used. */
export interface BullmqWorkerLike extends Pinged {
  on(event: string, listener: (...args: never[]) => void): unknown;
  pause(doNotWaitActive: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
  run(): Promise<void>;
  isPaused(): boolean;
  isRunning(): boolean;
  cancelJob(id: string): boolean;
  cancelAllJobs(): void;
}

/** The options of the worker: the handlers, as a receiver has them, and how jobs are run. */
export interface BullmqWorkerOptions<
  Worker extends BullmqWorkerLike,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends Omit<WorkerOptions<Extra, Custom, ContextWithoutCompleteIn>, 'maxRuns'> {
  /** Not an option here: set `maxRuns` of `bullmqQueue` instead. */
  maxRuns?: undefined;
  /** BullMQ's class: `import { Worker } from 'bullmq'`. */
  Worker: new (name: string, processor: never, options: never) => Worker;
  /** The name of the queue. */
  queueName: string;
  /**
   * The connection as BullMQ takes it: connection options, or a client with `maxRetriesPerRequest:
   * null`. With ioredis, set `socketTimeout` to 15,000 ms, or the worker waits on a dead connection for
   * many minutes.
   */
  connection: object;
  /** The maximum number of jobs that run at the same time in this process; 4 by default. */
  concurrency?: number | undefined;
  /**
   * The time between two runs of a job, in milliseconds. It grows from `initialDelay` (5,000 by
   * default) to `maxDelay` (3,600,000 by default).
   */
  backoff?: BackoffOptions | undefined;
  /**
   * Further options of BullMQ's worker, such as `prefix`, `limiter`, `lockDuration` or
   * `maxStalledCount`.
   */
  bullmq?: object | undefined;
}

/** A running worker, which `createBullmqWorker` returns. */
export interface BullmqWorker<Worker> {
  /** The worker of BullMQ, for its events. */
  readonly worker: Worker;
  /**
   * Checks whether a waiting job would be run, for a probe with `ready(worker)`: the worker is running
   * and not closing, neither it nor the queue is paused, a queue with its name and prefix exists, and
   * the server accepts what a worker writes. It resolves within 2 s. The promise never rejects.
   */
  health(): Promise<WorkerHealth>;
  /**
   * Stops taking jobs, waits up to `graceMs` (10,000 ms by default) for running jobs, and aborts the
   * others. A job that does not end is run by another worker when its lock has expired. It ends within
   * `graceMs` and one second, even if Redis does not answer.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** What is used of BullMQ's `Job`. */
interface Job {
  data: QueuedDelivery;
  opts: { attempts?: number };
  attemptsMade: number;
  attemptsStarted: number;
  failedReason?: string;
  finishedOn?: number;
  progress: unknown;
  updateProgress(progress: Note): Promise<void>;
  updateData(data: QueuedDelivery): Promise<unknown>;
  moveToDelayed(timestamp: number, token: string): Promise<void>;
}

/** Kept as the progress of a job while `deadLetter` fails: why it is given up. */
interface Note {
  abandonReason?: string;
}

/** How long handlers may take to end after they were aborted; milliseconds. */
const ABORT_MS = 300;
/** How many workers may die in a job until BullMQ gives it up. */
const MAX_STALLED_COUNT = 5;

/** BullMQ knows it by its name: the job is dead. */
class GivenUp extends Error {
  override readonly name = 'UnrecoverableError';
}

/** BullMQ knows it by its name: the job was moved already. */
class GivenBack extends Error {
  override readonly name = 'DelayedError';
}

const rules = <Worker>() => ({
  Worker: option.function<Worker>(),
  queueName: option.text(/./s, 'expected the name of the queue'),
  connection: option.object<object>(),
  concurrency: option.default(option.count(1, 10_000), 4),
  backoff: option.backoff(5_000, 3_600_000),
  bullmq: option.default(option.object<{ prefix?: string }>(), () => ({})),
  maxRuns: option.notHere('bullmqQueue'),
});

/**
 * Creates a worker that runs the jobs of a `bullmqQueue`.
 *
 * If a handler fails, BullMQ runs the job again, with backoff. After the last run, or at once if the
 * payload is invalid, the delivery goes to `deadLetter`, and the job stays among the failed jobs of
 * BullMQ, from where it can be retried. If `deadLetter` fails, it is called again.
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
  const { Worker, queueName, connection, concurrency, backoff, bullmq, maxRuns } = options;
  const own = ['Worker', 'queueName', 'connection', 'concurrency', 'backoff', 'bullmq'] as const;
  const handlers = withoutOptions(options, ...own, 'maxRuns');
  const settings = checkOptions('createBullmqWorker', rules<typeof Worker>(), {
    Worker,
    queueName,
    connection,
    concurrency,
    backoff,
    maxRuns,
    bullmq,
  });
  refuseSettings('createBullmqWorker', settings.bullmq);
  refuseIdleWorker('createBullmqWorker', settings.bullmq);
  checkConnection('createBullmqWorker', connection, settings.bullmq, queueName);
  const { prefix = 'bull' }: { prefix?: string } = settings.bullmq;
  const process = createJobProcessor<Extra, Custom, ContextWithoutCompleteIn>(handlers);
  const delayAfter = exponentialBackoff(settings.backoff);

  warnOfDeadConnectionsOfBullmq(connection, true, safeLogger(handlers.logger ?? console));
  const logError = errorLog(handlers.logger, handlers.redact);
  const running = new RunningJobs<Job>();
  const notes = new WorkerNotes();
  /** Of the whole queue, when the server was asked last. */
  let isQueuePaused = false;
  let closing: Promise<void> | undefined;

  async function run(job: Job, token: string, signal: AbortSignal): Promise<void> {
    if (closing) {
      // A worker that waits for a job still gets one. Later, since it may wait again.
      await job.moveToDelayed(Date.now() + RELEASE_MS, token);
      throw new GivenBack('The worker is closing.');
    }
    const { data, attemptsMade, attemptsStarted: attempt, failedReason } = job;
    const maxRuns = job.opts.attempts ?? 1;
    // Each failure leaves its reason, and BullMQ removes it when a job is retried by hand.
    const isRetriedByHand = attemptsMade > 0 && failedReason === undefined;
    const { abandonReason } = (isRetriedByHand ? {} : Object(job.progress)) as Note;
    const result = await process(data, {
      attempt,
      maxRuns,
      signal,
      isLastAttempt: isRetriedByHand || attemptsMade + 1 >= maxRuns,
      abandonReason: abandonReason === undefined ? undefined : new Error(abandonReason),
    });
    if (result.status === 'done') return;
    const { error } = result;
    if (result.status === 'dead') throw new GivenUp(error.message, { cause: error });
    if (result.abandonReason === undefined) throw error;
    // `deadLetter` failed: BullMQ must not give the job up yet, whatever its attempts are.
    job.opts.attempts = Infinity;
    await job.updateProgress({ abandonReason: result.abandonReason });
    throw new Error(result.abandonReason, { cause: error });
  }

  const worker = new Worker(
    queueName,
    // BullMQ passes a signal to functions of three parameters only.
    ((job: Job, token: string, signal: AbortSignal) => {
      notes.contact();
      return running.run(job, () => run(job, token, signal)).finally(() => notes.jobEnded());
    }) as never,
    {
      maxStalledCount: MAX_STALLED_COUNT,
      ...settings.bullmq,
      connection,
      concurrency: settings.concurrency,
      autorun: false, // the jobs of another database are not ours
      settings: {
        backoffStrategy: (attempts: number, type?: string) =>
          type === BACKOFF_TYPE ? Math.round(delayAfter(attempts)) : 0,
      },
    } as never,
  );
  const limit = new LineLimit(); // BullMQ emits an error for each attempt to connect
  worker.on('error', (error: unknown) => {
    if (limit.pass() !== undefined) logError(error);
  });
  const start = async () => {
    await checkDatabase(await clientOf(worker));
    if (!closing) await worker.run();
  };
  start().catch(logError);
  // The jobs may run elsewhere.
  worker.on('lockRenewalFailed', (ids: string[]) => ids.forEach((id) => worker.cancelJob(id)));
  // BullMQ keeps a completed job, to know duplicates by its id.
  worker.on('completed', (job: Job) => void removeBody(job));
  // BullMQ itself gives up a job in which too many workers died.
  worker.on('failed', (job: Job | undefined, error: Error) => {
    if (job?.finishedOn === undefined || error instanceof GivenUp) return;
    const { data, attemptsStarted: attempt } = job;
    void process(data, { attempt, isLastAttempt: true, abandonReason: error });
  });

  /** @throws Error that says what keeps jobs from being run */
  async function check(): Promise<void> {
    const state = await pingBullmq(worker, 'work');
    notes.contact();
    isQueuePaused = state?.isPaused === true;
    if (state?.exists === false)
      throw new Error(
        `There is no queue with the name "${queueName}" and the prefix "${prefix}" in this database. Give the worker the name, the prefix and the database of the Queue that you passed to bullmqQueue.`,
      );
    if (!closing && !worker.isRunning())
      throw new Error('BullMQ has stopped taking jobs. Its error events have the cause.');
  }

  async function health(): Promise<WorkerHealth> {
    const isClosing = closing !== undefined;
    const state = { closing: isClosing, running: running.size, check };
    return notes.health({ ...state, paused: () => worker.isPaused() || isQueuePaused });
  }

  async function close(graceMs: number): Promise<void> {
    const endsAt = performance.now() + graceMs + RELEASE_MS;
    void waitAtMost(RELEASE_MS, worker.pause(true)); // takes no new jobs
    await waitAtMost(graceMs, running.idle());
    worker.cancelAllJobs();
    await waitAtMost(ABORT_MS, running.idle());
    await waitAtMost(RELEASE_MS - ABORT_MS, worker.close(running.size > 0));
    await waitAtMost(endsAt - performance.now(), process.close());
  }
  return {
    worker,
    health,
    close: ({ graceMs = DEFAULT_GRACE_MS } = {}) => (closing ??= close(graceMs)),
  };
}

/** If it fails, BullMQ removes the body with the job, after the `rememberFor` of the queue. */
async function removeBody(job: Job): Promise<void> {
  const { trace: _trace, ...delivery } = job.data;
  try {
    await job.updateData({ ...delivery, body: '' });
  } catch {
    // The job is done, and its worker goes on.
  }
}

/** @returns logs what BullMQ emits or rejects with */
function errorLog(logger: Logger = console, redact?: Redact) {
  const log = safeLogger(logger);
  return (error: unknown) => {
    const { text, err } = loggedError(explained(error), redact);
    log.warn(
      { err, docs: docsUrl('queues.md#bullmq') },
      `call-webhooks: BullMQ's worker reported an error: ${text}`,
    );
  };
}
