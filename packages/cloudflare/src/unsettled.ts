/** What is remembered of a message that was not acknowledged. */
export interface Unsettled {
  /** How many of its deliveries ended before its job could run. */
  readonly notRun: number;
  /** Why it was given up, while `deadLetter` fails. */
  readonly abandonReason?: Error | undefined;
  /** Whether only `deadQueue` has failed. */
  readonly isDead?: boolean | undefined;
}

/** Messages come back to any instance of the Worker, so some are never asked for again. */
const MAX_MESSAGES = 10_000;
const NEW: Unsettled = { notRun: 0 };

/**
 * Remembers, in this instance of the Worker, what Cloudflare does not tell about a message: it counts
 * deliveries, whether their job ran or not.
 */
export class UnsettledMessages {
  readonly #messages = new Map<string, Unsettled>();

  get(id: string): Unsettled {
    return this.#messages.get(id) ?? NEW;
  }

  set(id: string, message: Unsettled): void {
    this.#messages.delete(id);
    this.#messages.set(id, message);
    if (this.#messages.size <= MAX_MESSAGES) return;
    for (const oldest of this.#messages.keys()) {
      this.#messages.delete(oldest);
      return;
    }
  }

  delete(id: string): void {
    this.#messages.delete(id);
  }
}
