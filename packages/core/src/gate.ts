import { MAX_LEASE_MS } from './lease.ts';
import type { Watch } from './watch.ts';
import { WebhookError } from './webhook-error.ts';

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
  readonly #watch: Watch;
  readonly #inside = new Set<Admitted>();
  #closing = false;

  constructor(maxInFlight: number, watch: Watch) {
    this.#max = maxInFlight;
    this.#watch = watch;
  }

  get closing(): boolean {
    return this.#closing;
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
    // A handler that never ends must not keep its place for ever: its lease ends by then.
    const limit = {
      at: performance.now() + MAX_LEASE_MS,
      wake: () => void this.#inside.delete(work),
    };
    this.#watch.add(limit);
    void work.done.then(() => {
      this.#watch.delete(limit);
      this.#inside.delete(work);
    });
  }

  /** Lets nobody in any more, and returns when all are out: by themselves, or put out after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise(
      (resolve) => (timer = setTimeout(resolve, Math.min(graceMs, LONGEST_TIMER_MS))),
    );
    await Promise.race([Promise.all([...this.#inside].map((work) => work.done)), grace]);
    clearTimeout(timer);
    await Promise.all([...this.#inside].map((work) => work.abandon()));
  }
}
