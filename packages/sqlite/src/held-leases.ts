import type { RowId } from './database.ts';

/**
 * The leases that this process took, by a monotonic clock. When the wall clock is set
 * forward, a lease in the file looks as if it had run out, but its handler still runs.
 */
export class HeldLeases {
  readonly #held = new Map<string, { token: string; row: RowId; until: number }>();

  /** How many are remembered. It does not grow with the leases that were lost and never ended. */
  get size(): number {
    return this.#held.size;
  }

  take(key: string, token: string, row: RowId, leaseMs: number): void {
    const now = performance.now();
    // Leases lie in the order in which they were taken: the first ones run out first.
    for (const [old, { until }] of this.#held) {
      if (until > now) break;
      this.#held.delete(old);
    }
    this.#held.delete(key);
    this.#held.set(key, { token, row, until: now + leaseMs });
  }

  /** The row of the event, while its lease is remembered. */
  rowOf(key: string, token: string): RowId | undefined {
    const lease = this.#held.get(key);
    return lease?.token === token ? lease.row : undefined;
  }

  holds(key: string, token: string): boolean {
    const lease = this.#held.get(key);
    return lease?.token === token && lease.until > performance.now();
  }

  end(key: string, token: string): void {
    if (this.#held.get(key)?.token === token) this.#held.delete(key);
  }
}
