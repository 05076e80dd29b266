import { healthOf, type PortHealth } from '../port-health.ts';
import { Deadlines } from '../time.ts';

/** The result of the `health()` of a worker, made for a probe. */
export interface WorkerHealth {
  /**
   * `true` if nothing is known that would keep a waiting job from being run: the worker is not closing
   * and not paused, and its engine takes what a worker writes.
   */
  ok: boolean;
  /** `true` once `close()` was called: no new job is run. */
  closing: boolean;
  /** Whether the engine of the queue answers, and takes what a worker writes. */
  queue: PortHealth;
  /** How many jobs run now. */
  running: number;
  /** Set while the worker is paused: no new job is run. */
  paused?: true;
  /** When the engine answered this worker last. Absent until its first answer. */
  lastContactAt?: Date;
  /** When a job of this worker ended last, whatever its result was. Absent until one has ended. */
  lastJobAt?: Date;
}

/** How long an engine may take to answer a health check; milliseconds. */
const ANSWER_WITHIN_MS = 2_000;

/** What a worker notes of its engine and its jobs, for its `health()`. */
export class WorkerNotes {
  readonly #deadlines = new Deadlines();
  #lastContactAt: number | undefined;
  #lastJobAt: number | undefined;

  /** The engine has answered. */
  contact(): void {
    this.#lastContactAt = Date.now();
  }

  jobEnded(): void {
    this.#lastJobAt = Date.now();
  }

  /**
   * @param state.check resolves when the engine takes what a worker writes. It gets 2 s
   */
  async health(state: {
    closing: boolean;
    /** Asked after the check, which may have found out. */
    paused(): boolean;
    running: number;
    check(): Promise<unknown>;
  }): Promise<WorkerHealth> {
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
