interface Flight {
  /** Real milliseconds (`performance.now()`) until which the clock waits for it. */
  until: number;
}

/**
 * What the clock has to wait for before it turns on: requests that a receiver is working on.
 *
 * A receiver may hang, and then only the clock can end the attempt. So each flight is waited for
 * during `patience` real milliseconds, once; after that, time passes without it.
 */
export class InFlightRequests {
  readonly #flights = new Set<Flight>();
  readonly #patience: number;
  #waiters: (() => void)[] = [];

  constructor(patience: number) {
    this.#patience = patience;
  }

  get size(): number {
    return this.#flights.size;
  }

  /**
   * Holds the clock while the work goes on. The work must not reject.
   * @param work is given a function that lets the clock wait for it once more
   */
  async track(work: (renew: () => void) => Promise<void>): Promise<void> {
    const flight = { until: 0 };
    const renew = () => {
      flight.until = performance.now() + this.#patience;
    };
    renew();
    this.#flights.add(flight);
    await work(renew);
    this.#flights.delete(flight);
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Gives all flights their patience once more: something happened that may let them go on. */
  renew(): void {
    const until = performance.now() + this.#patience;
    for (const flight of this.#flights) flight.until = until;
  }

  /** Resolves when every flight has landed, or has been waited for long enough. */
  async waitWithPatience(): Promise<void> {
    for (;;) {
      const wait = this.#longestWait();
      if (wait <= 0) return;
      await this.#nextLanding(wait);
    }
  }

  /** Resolves when every flight has landed, however long that takes. */
  async waitForAll(): Promise<void> {
    while (this.#flights.size > 0) await this.#nextLanding();
  }

  #longestWait(): number {
    let until = -Infinity;
    for (const flight of this.#flights) until = Math.max(until, flight.until);
    return until - performance.now();
  }

  #nextLanding(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, Math.ceil(withinMs));
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
