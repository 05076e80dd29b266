/** Something to be woken at a time of the monotonic clock (`performance.now()`, ms). */
export interface Wait {
  at: number;
  wake(): void;
}

/** What `within` rejects with. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
  constructor(ms: number) {
    super(`No answer within ${String(ms)} ms.`);
  }
}

/**
 * One timer for everything that a receiver waits for: deadlines, lease renewals, slow stores.
 * A wait costs an entry in a set, not a timer, and nearly all are over before they are due.
 */
export class Watch {
  readonly #waits = new Set<Wait>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #armedFor = Infinity;

  add(wait: Wait): void {
    this.#waits.add(wait);
    if (wait.at < this.#armedFor) this.#arm(wait.at);
  }

  delete(wait: Wait): void {
    this.#waits.delete(wait);
  }

  /** `promise`, or a rejection with `TimedOut` after `ms`. What comes later is dropped quietly. */
  within<T>(ms: number, promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait = {
        at: performance.now() + ms,
        wake() {
          reject(new TimedOut(ms));
        },
      };
      this.add(wait);
      Promise.resolve(promise).then(
        (value) => {
          this.delete(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.delete(wait);
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
    // A wait must not keep a process alive that has nothing else to do. (A number in browsers.)
    if (typeof this.#timer === 'object') this.#timer.unref();
  }

  #fire(): void {
    this.#armedFor = Infinity;
    const now = performance.now();
    const due: Wait[] = [];
    let next = Infinity;
    for (const wait of this.#waits) {
      if (wait.at > now) next = Math.min(next, wait.at);
      else due.push(wait);
    }
    for (const wait of due) this.#waits.delete(wait);
    if (next < Infinity) this.#arm(next);
    for (const wait of due) wait.wake();
  }
}
