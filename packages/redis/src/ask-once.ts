/** Asks the server a question at the start, and again with each `check()` until it answers. */
export class AskOnce {
  readonly #ask: () => Promise<void>;
  #state: 'open' | 'asking' | 'answered' = 'open';

  /** @param ask rejects if there was no answer */
  constructor(ask: () => Promise<void>) {
    this.#ask = ask;
  }

  check(): void {
    if (this.#state !== 'open') return;
    this.#state = 'asking';
    this.#ask().then(
      () => (this.#state = 'answered'),
      () => (this.#state = 'open'),
    );
  }
}
