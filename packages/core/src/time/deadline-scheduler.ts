import { Bag, type Bagged } from './bag.ts';

/** Something to call at a time of the monotonic clock (`performance.now()`, milliseconds). */
export interface Deadline extends Bagged {
  at: number;
  onReached(): void;
}

/** What `withTimeout` rejects with. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  constructor(ms: number) {
    super(`No answer within ${String(ms)} ms.`);
  }
}

/**
 * One timer for everything that a receiver waits for: response deadlines, lease renewals, slow
 * stores. A deadline costs an entry in a bag instead of a timer, and nearly all are removed before
 * they are reached (decision 5).
 */
export class DeadlineScheduler {
  readonly #deadlines = new Bag<Deadline>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #armedFor = Infinity;

  add(deadline: Deadline): void {
    this.#deadlines.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at);
  }

  delete(deadline: Deadline): void {
    this.#deadlines.delete(deadline);
  }

  /**
   * The value of `promise`, or a rejection with `TimeoutError` after `ms` milliseconds. A result
   * that comes later is dropped.
   */
  withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = {
        place: 0,
        at: performance.now() + ms,
        onReached() {
          reject(new TimeoutError(ms));
        },
      };
      this.add(deadline);
      Promise.resolve(promise).then(
        (value) => {
          this.delete(deadline);
          resolve(value);
        },
        (error: unknown) => {
          this.delete(deadline);
          reject(error);
        },
      );
    });
  }

  #arm(at: number): void {
    clearTimeout(this.#timer);
    this.#armedFor = at;
    this.#timer = setTimeout(
      () => {
        this.#fire();
      },
      Math.max(0, Math.ceil(at - performance.now())),
    );
    // The timer must not keep the process alive. (In browsers it is a number.)
    if (typeof this.#timer === 'object') this.#timer.unref();
  }

  #fire(): void {
    this.#armedFor = Infinity;
    const now = performance.now();
    const due: Deadline[] = [];
    let next = Infinity;
    for (const deadline of this.#deadlines) {
      if (deadline.at > now) next = Math.min(next, deadline.at);
      else due.push(deadline);
    }
    for (const deadline of due) this.#deadlines.delete(deadline);
    if (next < Infinity) this.#arm(next);
    for (const deadline of due) deadline.onReached();
  }
}

/**
 * A scheduler with a timer for each deadline, for Workers: a timer ends there with the request that
 * set it, so requests cannot share one.
 */
export class TimerPerDeadline extends DeadlineScheduler {
  readonly #timers = new Map<Deadline, ReturnType<typeof setTimeout>>();

  override add(deadline: Deadline): void {
    this.delete(deadline);
    const onTimer = () => {
      this.#timers.delete(deadline);
      deadline.onReached();
    };
    const ms = Math.max(0, Math.ceil(deadline.at - performance.now()));
    this.#timers.set(deadline, setTimeout(onTimer, ms));
  }

  override delete(deadline: Deadline): void {
    clearTimeout(this.#timers.get(deadline));
    this.#timers.delete(deadline);
  }
}
