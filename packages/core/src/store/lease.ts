import type { Awaitable } from '../awaitable.ts';
import type { Wait, Watch } from '../time/watch.ts';
import type { Claim } from './store.ts';

/** No lease is kept for longer: the service's retry comes after about 300 s and has to find it free. */
export const MAX_LEASE_MS = 240_000;

/** Everything of a store that a lease needs. */
export interface LeaseStore {
  complete(key: string, token: string): Awaitable<boolean>;
  release(key: string, token: string): Awaitable<boolean>;
  extend(key: string, token: string, leaseMs: number): Awaitable<boolean>;
}

/**
 * Our right to run one event: renewed while the handler runs, fenced by its token. An event without
 * a key has a lease on nothing, which always holds.
 */
export class Lease implements Wait {
  at: number;
  readonly #store: LeaseStore;
  readonly #watch: Watch;
  readonly #key: string | undefined;
  readonly #token: string;
  readonly #leaseMs: number;
  readonly #takenAt = performance.now();
  readonly #onLost: () => void;
  #over = false;

  constructor(
    store: LeaseStore,
    watch: Watch,
    { key, token, leaseMs }: Pick<Claim, 'key' | 'token' | 'leaseMs'>,
    onLost: () => void,
  ) {
    this.#store = store;
    this.#watch = watch;
    this.#key = key;
    this.#token = token;
    this.#leaseMs = leaseMs;
    this.#onLost = onLost;
    this.at = this.#takenAt + leaseMs / 3;
  }

  /** Renews it from now on, until its end: for as long as there is something to wait for. */
  keep(): void {
    if (this.#key !== undefined && !this.#over) this.#watch.add(this);
  }

  /** The event is done. `false`: the lease ran out before, and somebody else may be running it. */
  complete(): Awaitable<boolean> {
    if (this.#key === undefined) return true;
    this.#end();
    return this.#store.complete(this.#key, this.#token);
  }

  /** The event is free again, with its attempts counted. If the store fails it runs out by itself. */
  async giveBack(): Promise<void> {
    if (this.#key === undefined) return;
    this.#end();
    try {
      await this.#store.release(this.#key, this.#token);
    } catch {
      // The answer to the service is the same.
    }
  }

  #end(): void {
    this.#over = true;
    this.#watch.delete(this);
  }

  /** The watch calls it when a third of the lease has passed. */
  wake(): void {
    const age = performance.now() - this.#takenAt;
    const leaseMs = Math.min(this.#leaseMs, MAX_LEASE_MS - age);
    if (leaseMs <= 0) {
      this.#onLost();
      return;
    }
    this.at = performance.now() + this.#leaseMs / 3;
    this.#watch.add(this);
    void this.#renew(this.#key as string, leaseMs);
  }

  async #renew(key: string, leaseMs: number): Promise<void> {
    let held = true;
    try {
      held = await this.#store.extend(key, this.#token, leaseMs);
    } catch {
      // The store is away: the next renewal, or the commit, will tell.
    }
    if (held || this.#over) return; // a commit or release may have overtaken it
    this.#watch.delete(this);
    this.#onLost();
  }
}
