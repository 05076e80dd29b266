import type { Store } from './store.ts';
import type { Wait, Watch } from './watch.ts';

/** No lease is kept for longer: the service's retry comes after about 300 s and has to find it free. */
export const MAX_LEASE_MS = 240_000;

/** Everything of a store that a lease needs. */
export type LeaseStore = Pick<Store, 'complete' | 'release' | 'extend'>;

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
    { key, token, leaseMs }: { key: string | undefined; token: string; leaseMs: number },
    onLost: () => void,
  ) {
    this.#store = store;
    this.#watch = watch;
    this.#key = key;
    this.#token = token;
    this.#leaseMs = leaseMs;
    this.#onLost = onLost;
    this.at = this.#takenAt + leaseMs / 3;
    if (key !== undefined) watch.add(this);
  }

  /** The event is done. `false`: the lease ran out before, and somebody else may be running it. */
  complete(): Promise<boolean> {
    return this.#end('complete');
  }

  /** The event is free again, with its attempts counted. `false` as for `complete`. */
  release(): Promise<boolean> {
    return this.#end('release');
  }

  #end(how: 'complete' | 'release'): Promise<boolean> {
    if (this.#key === undefined) return Promise.resolve(true);
    this.#over = true;
    this.#watch.delete(this);
    return this.#store[how](this.#key, this.#token);
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
    this.#store.extend(this.#key as string, this.#token, leaseMs).then(
      (held) => {
        if (held || this.#over) return; // a commit or release may have overtaken it
        this.#watch.delete(this);
        this.#onLost();
      },
      () => undefined, // the store is away: the next renewal, or the commit, will tell
    );
  }
}
