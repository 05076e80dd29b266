/** Asks the server something at the start; again with each further `check()` while it does not answer. */
export class AskOnce {
  readonly #ask: () => Promise<void>;
  #state: 'to ask' | 'asking' | 'asked' = 'to ask';

  /** @param ask rejects when there was no answer */
  constructor(ask: () => Promise<void>) {
    this.#ask = ask;
  }

  check(): void {
    if (this.#state !== 'to ask') return;
    this.#state = 'asking';
    this.#ask().then(
      () => (this.#state = 'asked'),
      () => (this.#state = 'to ask'),
    );
  }
}
