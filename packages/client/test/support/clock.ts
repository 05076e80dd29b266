import type { Clock } from '../../src/clock.ts';

/** The timeout that the test clients use; the clock tells timeouts from pauses by it. */
export const TIMEOUT = 30_000;

/** A clock without waiting: pauses end at once and are written down, timeouts come when called for. */
export class TestClock implements Clock {
  /** The pauses so far, in ms. */
  readonly pauses: number[] = [];
  #now = 1_700_000_000_000;
  readonly #timeouts = new Set<() => void>();
  readonly #waiting: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  schedule(delay: number, callback: () => void): () => void {
    if (delay === TIMEOUT) {
      this.#timeouts.add(callback);
      this.#waiting.splice(0).forEach((resolve) => resolve());
      return () => this.#timeouts.delete(callback);
    }
    let cancelled = false;
    this.pauses.push(delay);
    queueMicrotask(() => {
      if (cancelled) return;
      this.#now += delay;
      callback();
    });
    return () => {
      cancelled = true;
    };
  }

  /** How many timeouts are running. */
  get armed(): number {
    return this.#timeouts.size;
  }

  /** Resolves when the next timeout starts. */
  nextTimeout(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets every running timeout run out. */
  expire(): void {
    for (const callback of [...this.#timeouts]) callback();
    this.#timeouts.clear();
  }
}
