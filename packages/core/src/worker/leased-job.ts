import { docsUrl } from '../errors.ts';
import type { QueuedDelivery } from '../queue.ts';
import { loggedError } from '../report/error-text.ts';
import { type Logger, safeLogger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import { deliveryFields } from '../report/reporter.ts';
import { keepRenewed } from '../store/renewal.ts';
import { ownTimer } from '../time.ts';
import type { JobProcessor, JobResult, JobTransaction, WorkerJob } from './job-processor.ts';
import type { PolledJob } from './polling-worker.ts';

/** Milliseconds until a refused write is retried: doubled each time, up to a limit. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;
/** A shorter outage is not logged; milliseconds. */
const LOG_AFTER_MS = 5_000;

/** A job that an engine leased to this worker, and how its end is written to the engine. */
export interface LeasedJob extends Pick<WorkerJob, 'abandonReason' | 'transaction'> {
  readonly delivery: QueuedDelivery;
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** The maximum number of runs that the engine makes, for log lines. */
  readonly maxRuns?: number | undefined;
  /**
   * When the worker asked the engine for the job, in milliseconds of `performance.now()`: the lease may have begun
   * then, however late the engine answered. By default, now.
   */
  readonly takenAt?: number | undefined;
  /** Milliseconds from `takenAt` until the engine reclaims the job. Without it, `extend` renews the lease. */
  readonly expiresIn?: number | undefined;
  /** Renews the lease. Resolves with `false` when the job was lost. */
  extend?(): Promise<boolean>;
  /** How often `extend` is called, in milliseconds. */
  readonly extendEvery?: number | undefined;
  complete(): Promise<unknown>;
  /** @param abandonReason see `JobResult` */
  retry(message: string, abandonReason: string | undefined): Promise<unknown>;
  moveToDead(message: string): Promise<unknown>;
  release(): Promise<unknown>;
}

/**
 * One run of a leased job, from its lease until the engine knows how it ended. If the engine refuses
 * the result, it is written again until the engine accepts it; after 5 seconds, a line is logged.
 */
export class LeasedJobRun implements PolledJob {
  readonly #job: LeasedJob;
  readonly #process: JobProcessor;
  readonly #log: Required<Logger>;
  readonly #redact: Redact | undefined;
  readonly #takenAt: number;
  readonly #expiresAt: number;
  #state: 'running' | 'writing' | 'released' = 'running';
  #stopTimers: () => void = () => undefined;
  /** Set by `completeIn`. Then a refused renewal does not mean that the job was lost. */
  #mayBeCompleted = false;
  #isCompleted = false;

  constructor(job: LeasedJob, process: JobProcessor, logger: Logger = console, redact?: Redact) {
    this.#job = job;
    this.#process = process;
    this.#log = safeLogger(logger);
    this.#redact = redact;
    this.#takenAt = job.takenAt ?? performance.now();
    this.#expiresAt = this.#takenAt + (job.expiresIn ?? Infinity);
  }

  async run(stop: AbortSignal): Promise<void> {
    const { delivery, attempt, isLastAttempt, maxRuns, abandonReason } = this.#job;
    const controller = new AbortController();
    const abort = () => {
      controller.abort();
    };
    stop.addEventListener('abort', abort, { once: true });
    this.#stopTimers = this.#keepLease(abort);
    try {
      const { signal } = controller;
      const transaction = this.#transaction(stop);
      const job = { attempt, isLastAttempt, maxRuns, abandonReason, signal, transaction };
      const result = await this.#process(delivery, job);
      if (!this.#isCompleted) await this.#write(result, stop);
    } finally {
      this.#stopTimers();
      stop.removeEventListener('abort', abort);
    }
  }

  /**
   * Does nothing once the end of the run is being written: a release could overtake it. It sends
   * nothing for a job that expired, which may run elsewhere.
   */
  async release(): Promise<void> {
    if (this.#state === 'writing') return;
    this.#state = 'released';
    this.#stopTimers(); // the handler may never end, and must not keep the process alive
    if (performance.now() >= this.#expiresAt) return;
    await this.#job.release();
  }

  /** @returns stops the timers of the lease */
  #keepLease(onLost: () => void): () => void {
    const { expiresIn, extendEvery } = this.#job;
    const left = Math.max(0, this.#expiresAt - performance.now());
    const expiry = expiresIn === undefined ? undefined : setTimeout(onLost, left);
    const renew = async () => (await this.#job.extend?.()) !== false || this.#mayBeCompleted;
    const stop =
      extendEvery === undefined
        ? undefined
        : keepRenewed({ every: extendEvery, renew, onLost, wait: ownTimer }, this.#takenAt);
    return () => {
      clearTimeout(expiry);
      stop?.();
    };
  }

  /** The job's own. Asking waits until the engine answers, as writing the result does. */
  #transaction(stop: AbortSignal): JobTransaction | undefined {
    const { transaction } = this.#job;
    return (
      transaction && {
        completeIn: (tx) => {
          this.#mayBeCompleted = true;
          return transaction.completeIn(tx);
        },
        isCompleted: async () => {
          let answer: boolean | undefined;
          const ask = async () => {
            answer = await transaction.isCompleted();
          };
          await this.#repeat(ask, Infinity, stop);
          if (answer === undefined) throw new Error('The worker was stopped in the meantime.');
          return (this.#isCompleted = answer);
        },
      }
    );
  }

  async #write(result: JobResult, stop: AbortSignal): Promise<void> {
    if (this.#state === 'released') return;
    this.#state = 'writing';
    // A job that expired may run elsewhere. Its success is still true, its failure is not.
    const until = result.status === 'done' ? Infinity : this.#expiresAt;
    await this.#repeat(() => this.#writeOnce(result), until, stop);
  }

  #writeOnce(result: JobResult): Promise<unknown> {
    if (result.status === 'done') return this.#job.complete();
    const { message } = result.error;
    return result.status === 'dead'
      ? this.#job.moveToDead(message)
      : this.#job.retry(message, result.abandonReason);
  }

  /**
   * Calls the engine again and again while it refuses: an outage must not make a handler run twice.
   * Once the worker stops, it is called once more. Logs long refusals, and how they ended.
   * @param until when to give up; milliseconds of `performance.now()`
   */
  async #repeat(call: () => Promise<unknown>, until: number, stop: AbortSignal): Promise<void> {
    const { delivery, attempt } = this.#job;
    const startedAt = performance.now();
    const fields = {
      ...deliveryFields({ ...delivery, attempt }),
      docs: docsUrl('queues.md#what-they-promise'),
    };
    let isLogged = false;
    let reason = '';
    let failed: object = fields;
    for (let delay = FIRST_DELAY_MS; performance.now() < until; delay *= 2) {
      try {
        await call();
        if (isLogged)
          this.#log.info(
            fields,
            'call-webhooks: the queue accepted the result of the job after retrying.',
          );
        return;
      } catch (error) {
        const { text, err } = loggedError(error, this.#redact);
        reason = text.replace(/\.?$/, '.');
        failed = { ...fields, err };
      }
      if (stop.aborted) break;
      if (!isLogged && performance.now() - startedAt >= LOG_AFTER_MS) {
        isLogged = true;
        this.#log.warn(
          failed,
          `call-webhooks: the queue did not accept the result of a job: ${reason} The worker tries again until the queue accepts it or the worker stops.`,
        );
      }
      await sleep(Math.min(delay, MAX_DELAY_MS, until - performance.now()), stop);
    }
    if (isLogged)
      this.#log.warn(
        failed,
        `call-webhooks: the queue never accepted the result of a job: ${reason} The job will run again.`,
      );
  }
}

/** Ends early when the signal is aborted. */
function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, ms));
    stop.addEventListener('abort', end, { once: true });
  });
}
