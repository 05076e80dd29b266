// Times in the file are by the wall clock, which all processes share, and which may be set.

/** A smaller difference is drift, or the resolution of the clocks; milliseconds. */
const STEP_MS = 1_000;

/** Notices when the wall clock was set back, by comparing it with a monotonic clock. */
export class ClockSteps {
  #offset: number | undefined;

  /**
   * Whether the clock was set back since the last call. True for the first call as well: it may have
   * been set back before this process started.
   */
  wasSetBack(now: number): boolean {
    const offset = now - performance.now();
    const before = this.#offset ?? Infinity;
    this.#offset = offset;
    return offset < before - STEP_MS;
  }
}

/**
 * The leases that this process took, by a monotonic clock. When the wall clock is set forward, a lease
 * in the file looks as if it had run out, but its handler still runs.
 */
export class HeldLeases {
  readonly #held = new Map<string, { token: string; until: number }>();

  /** How many are remembered. It does not grow with the leases that were lost and never ended. */
  get size(): number {
    return this.#held.size;
  }

  take(key: string, token: string, leaseMs: number): void {
    const now = performance.now();
    // Leases lie in the order in which they were taken: the first ones run out first.
    for (const [old, { until }] of this.#held) {
      if (until > now) break;
      this.#held.delete(old);
    }
    this.#held.delete(key);
    this.#held.set(key, { token, until: now + leaseMs });
  }

  holds(key: string, token: string): boolean {
    const lease = this.#held.get(key);
    return lease?.token === token && lease.until > performance.now();
  }

  end(key: string, token: string): void {
    if (this.#held.get(key)?.token === token) this.#held.delete(key);
  }
}
