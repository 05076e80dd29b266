import type { Logger } from '@call-webhooks/core';
import { docsUrl, loggedError } from '@call-webhooks/core/internal';

const EVERY = 100;

/**
 * Deletes old rows beside the claims that add new ones: after the first claim, so that short-lived
 * processes do it as well, and then after every hundredth. One sweep runs at a time.
 */
export class Sweeper {
  readonly #sweep: () => Promise<number>;
  readonly #logger: Logger;
  #claims = 0;
  #running: Promise<void> | undefined;
  #warned = false;

  constructor(sweep: () => Promise<number>, logger: Logger) {
    this.#sweep = sweep;
    this.#logger = logger;
  }

  /** Counts a claim. */
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
    const { text, err } = loggedError(error);
    this.#logger.warn(
      { err, docs: docsUrl('stores.md#postgres') },
      `call-webhooks: deleting old rows of the Postgres store failed: ${text}`,
    );
  }
}
