import type { Store } from '@call-webhooks/core';
import type { Admission, Claim, DoneMark } from '@call-webhooks/core/stores';

/** Wraps a store whose calls take real time. Counts the pending calls, so that a test can wait for them. */
export class RealTimeStore implements Store {
  readonly #store: Store;
  readonly #beforeCall: () => Promise<unknown>;
  #pending = 0;
  #slowestMs = 0;

  /** Synchronous, in a transaction of the handler. */
  readonly completeIn?: NonNullable<Store['completeIn']>;

  /** @param beforeCall is started before each call, and awaited together with it */
  constructor(store: Store, beforeCall: () => Promise<unknown> = () => Promise.resolve()) {
    this.#store = store;
    this.#beforeCall = beforeCall;
    if (store.completeIn) this.completeIn = store.completeIn.bind(store);
  }

  /** Whether no call is pending. */
  get idle(): boolean {
    return this.#pending === 0;
  }

  /** Duration of the slowest call; milliseconds of real time. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  admit(claim: Claim): Promise<Admission> {
    return this.#counted(() => this.#store.admit(claim));
  }

  complete(key: string, token: string, mark?: DoneMark): Promise<boolean> {
    return this.#counted(() => this.#store.complete(key, token, mark));
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#counted(() => this.#store.release(key, token));
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return this.#counted(() => this.#store.extend(key, token, leaseMs));
  }

  async #counted<T>(call: () => Promise<T>): Promise<T> {
    const since = process.hrtime.bigint(); // never faked
    this.#pending++;
    try {
      const [, result] = await Promise.all([this.#beforeCall(), call()]);
      return result;
    } finally {
      this.#pending--;
      const tookMs = Number(process.hrtime.bigint() - since) / 1e6;
      this.#slowestMs = Math.max(this.#slowestMs, tookMs);
    }
  }
}
