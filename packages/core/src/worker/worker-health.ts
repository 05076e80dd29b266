import { healthOf, type PortHealth } from '../port-health.ts';
import { Deadlines } from '../time.ts';

/** The result of `health()` of a queue worker, which a probe can use. */
export interface WorkerHealth {
  /**
   * `true` if a waiting job would be run, as far as the worker knows: it is not closing and not paused,
   * and its queue answers within 2 s.
   */
  ok: boolean;
  /** `true` once `close()` has been called: no new jobs are run. */
  closing: boolean;
  /** Whether the queue answers and accepts what a worker writes. */
  queue: PortHealth;
  /** The number of jobs that are running in this process. */
  running: number;
  /** `true` while the worker is paused, so that no new jobs are run. Otherwise it is absent. */
  paused?: true;
  /** The time of the last answer of the queue to this worker. It is absent until the first answer. */
  lastContactAt?: Date;
  /**
   * The time at which a job of this worker last ended, whatever its result. It is absent until one has
   * ended.
   */
  lastJobAt?: Date;
}

/** How long an engine may take to answer a health check; milliseconds. */
const ANSWER_WITHIN_MS = 2_000;

/** What a worker knows about itself when its health is checked. */
export interface WorkerState {
  /** Whether `close()` was called. */
  closing: boolean;
  /** Whether it takes no jobs. It is asked after the check, which may have found out. */
  paused(): boolean;
  /** How many jobs run now. */
  running: number;
  /**
   * Resolves if the engine accepts the writes of a worker; it makes such a write. It may take up to 2
   * s, and an error that it rejects with is reported as the queue's error.
   */
  check(): Promise<unknown>;
}

/**
 * Records what a worker learns about its engine and its jobs, for its `health()`. Use it for an engine
 * that hands out jobs in its own loop; `startPollingWorker` already does this itself.
 * @example
 * const notes = new WorkerNotes();
 * engine.onJob(async (job) => {
 *   notes.contact();
 *   await run(job).finally(() => notes.jobEnded());
 * });
 */
export class WorkerNotes {
  readonly #deadlines = new Deadlines();
  #lastContactAt: number | undefined;
  #lastJobAt: number | undefined;

  /** Records that the engine has answered, as `lastContactAt` of the health. */
  contact(): void {
    this.#lastContactAt = Date.now();
  }

  /** Records that a job has ended, whatever its result, as `lastJobAt` of the health. */
  jobEnded(): void {
    this.#lastJobAt = Date.now();
  }

  /** The health of the worker now. Never rejects. */
  async health(state: WorkerState): Promise<WorkerHealth> {
    const { closing, running } = state;
    const queue = await healthOf(async () => {
      await this.#deadlines.withTimeout(ANSWER_WITHIN_MS, (async () => state.check())());
    });
    const paused = state.paused();
    return {
      ok: !closing && !paused && queue.status === 'up',
      closing,
      queue,
      running,
      ...(paused && { paused }),
      ...(this.#lastContactAt !== undefined && { lastContactAt: new Date(this.#lastContactAt) }),
      ...(this.#lastJobAt !== undefined && { lastJobAt: new Date(this.#lastJobAt) }),
    };
  }
}
