/** The right to run one event. */
export interface MemoryLease<Event> {
  readonly token: string;
  readonly attempt: number;
  readonly group: string | undefined;
  readonly event: Event;
  /** On the clock that the calls pass as `now`; milliseconds. */
  readonly until: number;
}

/** The leases of a memory store: by key, and by group the key of the one event that runs. */
export class MemoryLeases<Event> {
  readonly #leases = new Map<string, MemoryLease<Event>>();
  readonly #groups = new Map<string, string>();
  readonly #onExpired: (key: string, lease: MemoryLease<Event>) => void;

  /** @param onExpired called with each lease that ran out, once it is gone */
  constructor(onExpired: (key: string, lease: MemoryLease<Event>) => void) {
    this.#onExpired = onExpired;
  }

  /** Ends the leases that ran out. Those of equal lengths are in order of their ends. */
  endExpired(now: number): void {
    for (const [key, lease] of this.#leases) {
      if (lease.until > now) return;
      this.#expire(key, lease);
    }
  }

  /** The lease of an event. Checks its end again: leases of different lengths are not in order. */
  live(key: string, now: number): MemoryLease<Event> | undefined {
    const lease = this.#leases.get(key);
    if (!lease || lease.until > now) return lease;
    this.#expire(key, lease);
    return undefined;
  }

  /** The lease of an event, if this token holds it. */
  held(key: string, token: string, now: number): MemoryLease<Event> | undefined {
    const lease = this.live(key, now);
    return lease?.token === token ? lease : undefined;
  }

  isBusy(group: string, now: number): boolean {
    const running = this.#groups.get(group);
    return running !== undefined && this.live(running, now) !== undefined;
  }

  take(key: string, lease: MemoryLease<Event>): void {
    this.#leases.set(key, lease);
    if (lease.group !== undefined) this.#groups.set(lease.group, key);
  }

  extend(key: string, lease: MemoryLease<Event>, until: number): void {
    this.#leases.delete(key); // set again at the end, which keeps the order
    this.#leases.set(key, { ...lease, until });
  }

  end(key: string, { group }: MemoryLease<Event>): void {
    this.#leases.delete(key);
    if (group !== undefined) this.#groups.delete(group);
  }

  #expire(key: string, lease: MemoryLease<Event>): void {
    this.end(key, lease);
    this.#onExpired(key, lease);
  }
}
