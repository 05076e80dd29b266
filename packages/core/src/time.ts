import { sharesTimers } from '#platform';
import { Bag, type Bagged } from './bag.ts';

/** The longest delay of a timer; milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** A timer that is so late will never fire; milliseconds. */
const LOST_AFTER_MS = 100;
/**
 * How long a store or a queue may take at shutdown to take back what is unfinished, in milliseconds. `close`
 * takes at most this long in addition to its `graceMs`.
 */
export const RELEASE_MS = 1_000;

/** What `withTimeout` rejects with. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
  constructor(ms: number) {
    super(`No answer within ${String(ms)} ms.`);
  }
}

/** Something that will be called, unless it is cancelled. */
export interface Deadline {
  cancel(): void;
}

class Waiting implements Deadline, Bagged {
  place = 0;
  /** On the monotonic clock (`performance.now()`); milliseconds. */
  readonly at: number;
  readonly run: () => void;
  readonly #among: Bag<Waiting>;

  constructor(at: number, run: () => void, among: Bag<Waiting>) {
    this.at = at;
    this.run = run;
    this.#among = among;
  }

  cancel(): void {
    this.#among.delete(this);
  }
}

/**
 * One timer for all that its owner waits for: response deadlines, lease renewals, slow stores.
 * Nearly all deadlines are cancelled before they are reached, and a timer for each would make a delivery
 * half as expensive again (decision 5). Where requests can't share a timer, as on Workers, each deadline
 * has its own.
 */
export class Deadlines {
  readonly #waiting = new Bag<Waiting>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #armedFor = Infinity;

  /**
   * Calls `onReached` after `ms` milliseconds, in an arbitrary async context: let it settle a promise,
   * since what awaits a promise keeps its own context.
   * @param since when they began; `performance.now()`
   */
  in(ms: number, onReached: () => void, since = performance.now()): Deadline {
    if (!sharesTimers) return ownTimer(ms, onReached, since);
    const at = since + ms;
    const waiting = new Waiting(at, onReached, this.#waiting);
    this.#waiting.add(waiting);
    // A test that puts the clock back takes the timer with it.
    const isLost = this.#armedFor < since - LOST_AFTER_MS;
    if (isLost || at < this.#armedFor) this.#arm(isLost ? since : at);
    return waiting;
  }

  /**
   * The value of `promise`, or a rejection with `TimeLimitError` after `ms` milliseconds. A result that
   * arrives later is dropped.
   * @param since when they began; `performance.now()`
   */
  withTimeout<T>(ms: number, promise: PromiseLike<T>, since?: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const onReached = () => reject(new TimeLimitError(ms));
      const deadline = this.in(ms, onReached, since);
      promise.then(
        (value) => {
          deadline.cancel();
          resolve(value);
        },
        (error: unknown) => {
          deadline.cancel();
          reject(error);
        },
      );
    });
  }

  #arm(at: number): void {
    // Not by `clearTimeout` where it can be helped: that of mocked timers warns about a real one.
    if (typeof this.#timer === 'object' && 'close' in this.#timer) this.#timer.close();
    else clearTimeout(this.#timer);
    this.#armedFor = at;
    this.#timer = setTimeout(() => this.#fire(), Math.max(0, Math.ceil(at - performance.now())));
    // The timer must not keep the process alive. (In browsers and jsdom it is a number.)
    if (typeof this.#timer === 'object') this.#timer.unref();
  }

  #fire(): void {
    const now = performance.now();
    const due = [...this.#waiting].filter(({ at }) => at <= now);
    for (const waiting of due) this.#waiting.delete(waiting);
    this.#armedFor = Infinity;
    let next = Infinity;
    for (const { at } of this.#waiting) next = Math.min(next, at);
    if (next < Infinity) this.#arm(next);
    for (const { run } of due) run();
  }
}

/** As `Deadlines.in`, with a timer of its own, which keeps the process alive. */
export function ownTimer(ms: number, onReached: () => void, since = performance.now()): Deadline {
  const timer = setTimeout(onReached, Math.max(0, Math.ceil(since + ms - performance.now())));
  return { cancel: () => clearTimeout(timer) };
}

/**
 * Waits until a promise is settled, but at most `ms` milliseconds. It never rejects: a promise that rejects
 * has ended as well. It is for `close()`, which must end even if the engine does not respond.
 * @example await waitAtMost(RELEASE_MS, engine.close());
 */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await Promise.race([promise.then(ignore, ignore), limit]);
  clearTimeout(timer);
}

const ignore = () => undefined;

/** The delays between the attempts of a job. */
export interface BackoffOptions {
  /** Milliseconds until the second attempt. */
  initialDelay?: number | undefined;
  /** The longest delay between attempts; milliseconds. */
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
