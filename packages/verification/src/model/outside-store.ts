import type { Admission, Claim, Store } from '@call-webhooks/core';

/** A store that answers in its own time, not in the turned one: its calls are counted, to be waited for. */
export class OutsideStore implements Store {
  readonly #store: Store;
  readonly #beforeCall: () => Promise<unknown>;
  #pending = 0;
  #slowestMs = 0;

  /** @param beforeCall what the store has to be told first; it is not waited for before the call itself */
  constructor(store: Store, beforeCall: () => Promise<unknown> = () => Promise.resolve()) {
    this.#store = store;
    this.#beforeCall = beforeCall;
  }

  /** Whether no call is under way. */
  get idle(): boolean {
    return this.#pending === 0;
  }

  /** The longest that a call has taken; milliseconds of real time. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  admit(claim: Claim): Promise<Admission> {
    return this.#counted(() => this.#store.admit(claim));
  }

  complete(key: string, token: string): Promise<boolean> {
    return this.#counted(() => this.#store.complete(key, token));
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#counted(() => this.#store.release(key, token));
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return this.#counted(() => this.#store.extend(key, token, leaseMs));
  }

  async #counted<T>(call: () => Promise<T>): Promise<T> {
    const since = process.hrtime.bigint(); // which no test turns
    this.#pending++;
    try {
      const [, answer] = await Promise.all([this.#beforeCall(), call()]);
      return answer;
    } finally {
      this.#pending--;
      const tookMs = Number(process.hrtime.bigint() - since) / 1e6;
      this.#slowestMs = Math.max(this.#slowestMs, tookMs);
    }
  }
}
