import { WebhookError } from './webhook-error.ts';

/** Work that is under way, as the gate has to know it. */
export interface Admitted {
  /** Settles when the work is over; never rejects. */
  readonly done: Promise<unknown>;
  /** Gives up on it at shutdown: aborts the handler and gives its lease back. */
  abandon(): Promise<void>;
}

/** Bounds the deliveries that are handled at once, and closes for a shutdown. */
export class Gate {
  readonly #max: number;
  readonly #inside = new Set<Admitted>();
  #closing = false;

  constructor(maxInFlight: number) {
    this.#max = maxInFlight;
  }

  /** @throws WebhookError `shutting-down`, `overloaded` */
  check(): void {
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (this.#inside.size >= this.#max) {
      throw new WebhookError(
        'overloaded',
        `${String(this.#max)} deliveries are being handled, which is maxInFlight.`,
      );
    }
  }

  enter(work: Admitted): void {
    this.#inside.add(work);
    void work.done.then(() => this.#inside.delete(work));
  }

  /** Lets nobody in any more, and returns when all are out: by themselves, or put out after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([Promise.all([...this.#inside].map((work) => work.done)), grace]);
    clearTimeout(timer);
    await Promise.all([...this.#inside].map((work) => work.abandon()));
  }
}
