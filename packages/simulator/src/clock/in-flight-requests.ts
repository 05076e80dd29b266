interface InFlight {
  /** The clock waits until then; `performance.now()`. */
  until: number;
}

/**
 * The requests that receivers are handling. The clock waits for them before it advances, but only for
 * `patience`: only the clock can end an attempt whose receiver hangs.
 */
export class InFlightRequests {
  readonly #requests = new Set<InFlight>();
  readonly #patience: number;
  #waiters: (() => void)[] = [];

  constructor(patience: number) {
    this.#patience = patience;
  }

  get size(): number {
    return this.#requests.size;
  }

  /**
   * Makes the clock wait for some work, which must not reject.
   * @param work gets a function that makes the clock wait again
   */
  async track(work: (renew: () => void) => Promise<void>): Promise<void> {
    const request = { until: 0 };
    const renew = () => {
      request.until = performance.now() + this.#patience;
    };
    renew();
    this.#requests.add(request);
    await work(renew);
    this.#requests.delete(request);
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Makes the clock wait again for all requests: something happened that may end them. */
  renew(): void {
    const until = performance.now() + this.#patience;
    for (const request of this.#requests) request.until = until;
  }

  /** Resolves when every request has ended or was waited for long enough. */
  async waitWithPatience(): Promise<void> {
    for (;;) {
      const wait = this.#longestWait();
      if (wait <= 0) return;
      await this.#nextEnd(wait);
    }
  }

  /** Resolves when every request has ended. */
  async waitForAll(): Promise<void> {
    while (this.#requests.size > 0) await this.#nextEnd();
  }

  #longestWait(): number {
    let until = -Infinity;
    for (const request of this.#requests) until = Math.max(until, request.until);
    return until - performance.now();
  }

  #nextEnd(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, Math.ceil(withinMs));
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
