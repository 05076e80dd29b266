const EVERY = 100;

/**
 * Has old rows removed now and then, beside the claims that make new ones: with the first claim, so
 * that short-lived machines do it too, and then with every hundredth. One sweep at a time.
 */
export class Sweeper {
  readonly #sweep: () => Promise<number>;
  #claims = 0;
  #running: Promise<void> | undefined;
  #warned = false;

  constructor(sweep: () => Promise<number>) {
    this.#sweep = sweep;
  }

  /** One more claim was made. */
  count(): void {
    if (this.#claims++ % EVERY !== 0 || this.#running) return;
    this.#running = this.#sweep()
      .then(
        () => undefined,
        (error: unknown) => {
          this.#warn(error);
        },
      )
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no sweep is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const text = error instanceof Error ? error.message : String(error);
    console.warn(`call-webhooks: old rows of the Postgres store could not be removed: ${text}`);
  }
}
