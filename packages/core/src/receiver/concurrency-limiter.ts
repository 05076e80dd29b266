import { WebhookError } from '../outcome/webhook-error.ts';
import { MAX_LEASE_MS } from '../store/lease.ts';
import { RELEASE_MS, waitAtMost } from '../time/wait-at-most.ts';

/** A delivery that is being handled. */
export interface RunningDelivery {
  /** Settles when it ends; never rejects. */
  readonly done: Promise<unknown>;
  /** Gives up on it at shutdown: aborts the handler and releases its lease. */
  abandon(): Promise<void>;
}

/** Limits the deliveries that are handled at the same time, and stops admitting at shutdown. */
export class ConcurrencyLimiter {
  readonly #max: number;
  /** With the time at which each was added, the oldest first. */
  readonly #running = new Map<RunningDelivery, number>();
  #closing = false;

  constructor(maxInFlight: number) {
    this.#max = maxInFlight;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Whether as many deliveries are running as may run. */
  get full(): boolean {
    if (this.#running.size < this.#max) return false;
    this.#dropStuck();
    return this.#running.size >= this.#max;
  }

  /** @throws WebhookError `shutting-down`, `overloaded` */
  check(): void {
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (!this.full) return;
    throw new WebhookError(
      'overloaded',
      `The receiver is already handling ${String(this.#max)} deliveries (maxInFlight).`,
    );
  }

  /** @param at `performance.now()` */
  add(delivery: RunningDelivery, at: number): void {
    this.#running.set(delivery, at);
  }

  delete(delivery: RunningDelivery): void {
    this.#running.delete(delivery);
  }

  /** A handler that never ends must not keep its place for ever. Its lease has ended by now. */
  #dropStuck(): void {
    const before = performance.now() - MAX_LEASE_MS;
    for (const [delivery, at] of this.#running) {
      if (at > before) return;
      this.#running.delete(delivery);
    }
  }

  /**
   * Stops admitting, waits for running deliveries, and abandons those that are not done in time.
   * It ends within `graceMs` and one second, even if the store does not answer.
   * @param graceMs milliseconds to wait
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    await Promise.resolve(); // a handler that calls this as it starts has not been added yet
    this.#dropStuck();
    const allDone = Promise.all([...this.#running.keys()].map((delivery) => delivery.done));
    await waitAtMost(graceMs, allDone);
    const abandoned = [...this.#running.keys()].map((delivery) => delivery.abandon());
    await waitAtMost(RELEASE_MS, Promise.all(abandoned));
  }
}
