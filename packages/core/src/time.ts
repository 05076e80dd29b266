/** How long to wait between two attempts of a job. */
export interface BackoffOptions {
  /** Milliseconds until the second attempt. */
  initialDelay?: number | undefined;
  /** The longest wait between two attempts; milliseconds. */
  maxDelay?: number | undefined;
}

/**
 * Exponential backoff: the delay doubles after each attempt, up to a limit. It varies by 10 % either
 * way, so that jobs which failed together are retried apart.
 * @param random from 0 to 1
 * @returns the delay after an attempt, in milliseconds; the first attempt is 1
 */
export function exponentialBackoff(
  options: Required<Record<keyof BackoffOptions, number>>,
  random: () => number = Math.random,
): (attempt: number) => number {
  const { initialDelay, maxDelay } = options;
  return (attempt) =>
    Math.min(maxDelay, initialDelay * 2 ** Math.min(50, attempt - 1)) * (0.9 + 0.2 * random());
}

/** The longest delay of a timer; milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long a store or engine may take, at shutdown, to accept what is released; milliseconds. */
export const RELEASE_MS = 1_000;

/** Waits for a promise for `ms` milliseconds at most. A promise that rejects has ended as well. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await Promise.race([promise.then(ignore, ignore), limit]);
  clearTimeout(timer);
}

const ignore = () => undefined;

/** An item of a `Bag`. */
export interface Bagged {
  /** Its index in the bag, which alone changes it. Any number before it is added. */
  place: number;
}

/**
 * A set of items that come and go quickly, in no order.
 *
 * A `Set` would keep too much alive: V8 replaces its table whenever it is full. A table that was
 * replaced still refers to the next one. Once they are in the old generation, all that they ever had
 * stays in memory until a full collection, and each small collection copies it (decision 15).
 */
export class Bag<Item extends Bagged> implements Iterable<Item> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Does nothing for an item that is there. */
  add(item: Item): void {
    if (this.#items[item.place] !== item) item.place = this.#items.push(item) - 1;
  }

  /** @returns whether it was there */
  delete(item: Item): boolean {
    if (this.#items[item.place] !== item) return false;
    const last = this.#items.pop() as Item;
    if (last === item) return true;
    this.#items[item.place] = last;
    last.place = item.place;
    return true;
  }

  /** The items that are there now, also if it changes meanwhile. */
  [Symbol.iterator](): Iterator<Item> {
    return [...this.#items].values();
  }
}

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
