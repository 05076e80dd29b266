import { WebhookError } from '../outcome/webhook-error.ts';
import { MAX_LEASE_MS } from '../store/lease.ts';

/** Work that is under way, as the gate has to know it. */
export interface Admitted {
  /** Settles when the work is over; never rejects. */
  readonly done: Promise<unknown>;
  /** Gives up on it at shutdown: aborts the handler and gives its lease back. */
  abandon(): Promise<void>;
}

/** What a timer can hold; above it, it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Bounds the deliveries that are handled at once, and closes for a shutdown. */
export class Gate {
  readonly #max: number;
  /** With the time at which each came in, the oldest first. */
  readonly #inside = new Map<Admitted, number>();
  #closing = false;

  constructor(maxInFlight: number) {
    this.#max = maxInFlight;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** @throws WebhookError `shutting-down`, `overloaded` */
  check(): void {
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (this.#inside.size < this.#max) return;
    this.#forgetStuck();
    if (this.#inside.size < this.#max) return;
    throw new WebhookError(
      'overloaded',
      `${String(this.#max)} deliveries are being handled, which is maxInFlight.`,
    );
  }

  /** @param at `performance.now()` */
  enter(work: Admitted, at: number): void {
    this.#inside.set(work, at);
  }

  leave(work: Admitted): void {
    this.#inside.delete(work);
  }

  /** A handler that never ends must not keep its place for ever: its lease has ended by now. */
  #forgetStuck(): void {
    const before = performance.now() - MAX_LEASE_MS;
    for (const [work, at] of this.#inside) {
      if (at > before) return;
      this.#inside.delete(work);
    }
  }

  /** Lets nobody in any more, and returns when all are out: by themselves, or put out after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    await Promise.resolve(); // a handler that calls this as it begins has not come in yet
    this.#forgetStuck();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise(
      (resolve) => (timer = setTimeout(resolve, Math.min(graceMs, LONGEST_TIMER_MS))),
    );
    await Promise.race([Promise.all([...this.#inside.keys()].map((work) => work.done)), grace]);
    clearTimeout(timer);
    await Promise.all([...this.#inside.keys()].map((work) => work.abandon()));
  }
}
