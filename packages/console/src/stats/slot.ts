import type { Store } from '@call-webhooks/core';

/** The part of a store that processes share statistics with. It needs its cursors, as all of ours have. */
export type StatsStore = Pick<Store, 'admit' | 'extend' | 'release' | 'loadCursor' | 'saveCursor'>;

/** How many processes can share their statistics at a time. */
export const MAX_SLOTS = 32;
/** How long a process that died keeps its slot; milliseconds. */
const LEASE_MS = 60_000;

const keyOf = (name: string, slot: number) => `call-webhooks.console.${name}.${slot}`;

/** The cursors that hold the statistics of a slot. */
export const cursorsOf = (name: string, slot: number) => ({
  hour: `console/${name}/${slot}/hour`,
  day: `console/${name}/${slot}/day`,
});

/** A slot of the shared statistics, which one process at a time writes. */
export class Slot {
  readonly number: number;
  readonly #store: StatsStore;
  readonly #key: string;
  readonly #token: string;

  private constructor(store: StatsStore, number: number, key: string, token: string) {
    this.number = number;
    this.#store = store;
    this.#key = key;
    this.#token = token;
  }

  /**
   * Takes the first free slot. Its lease is that of an event which never happens.
   * @returns `undefined` if other processes have them all
   */
  static async take(store: StatsStore, name: string, now: number): Promise<Slot | undefined> {
    for (let number = 0; number < MAX_SLOTS; number += 1) {
      const key = keyOf(name, number);
      const token = crypto.randomUUID();
      const claim = {
        webhookId: token,
        replayUntil: now + LEASE_MS,
        key,
        leaseMs: LEASE_MS,
        token,
      };
      const { status } = await store.admit(claim);
      if (status === 'admitted') return new Slot(store, number, key, token);
    }
    return undefined;
  }

  /** @returns `false` if another process may have it */
  renew(): Promise<boolean> {
    return this.#store.extend(this.#key, this.#token, LEASE_MS);
  }

  async release(): Promise<void> {
    await this.#store.release(this.#key, this.#token);
  }
}
