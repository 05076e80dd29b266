import { WebhookError } from './errors.ts';
import { MAX_LEASE_MS } from './store/lease.ts';
import { Bag, type Bagged, RELEASE_MS, waitAtMost } from './time.ts';

/** A delivery that is being handled. */
export interface RunningDelivery {
  /** Settles when it ends; never rejects. */
  readonly done: Promise<unknown>;
  /** Gives up on it at shutdown: aborts the handler and releases its lease. */
  abandon(): Promise<void>;
}

/** The place that a delivery takes up. */
export interface TakenPlace extends Bagged {
  readonly delivery: RunningDelivery;
  /** Since when; milliseconds of `performance.now()`. */
  readonly at: number;
  readonly tenant: string | undefined;
}

/** Limits the deliveries that are handled at the same time, and stops admitting at shutdown. */
export class ConcurrencyLimiter {
  readonly #max: number;
  readonly #maxPerTenant: number;
  readonly #running = new Bag<TakenPlace>();
  /** None of them is older; milliseconds of `performance.now()`. */
  #oldestAt = Infinity;
  /** How many are running of each tenant. */
  readonly #ofTenants = new Map<string, number>();
  #closing = false;

  constructor(maxInFlight: number, maxPerTenant = maxInFlight) {
    this.#max = maxInFlight;
    this.#maxPerTenant = maxPerTenant;
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
  check(tenant?: string): void {
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (tenant !== undefined) this.#checkTenant(tenant);
    if (!this.full) return;
    throw new WebhookError(
      'overloaded',
      `The receiver is already handling ${String(this.#max)} deliveries (maxInFlight).`,
    );
  }

  #checkTenant(tenant: string): void {
    const isFull = () => (this.#ofTenants.get(tenant) ?? 0) >= this.#maxPerTenant;
    if (!isFull()) return;
    this.#dropStuck();
    if (!isFull()) return;
    throw new WebhookError(
      'overloaded',
      `The receiver is already handling ${String(this.#maxPerTenant)} deliveries of this tenant (maxInFlightPerTenant).`,
    );
  }

  /** @param at `performance.now()` */
  add(delivery: RunningDelivery, at: number, tenant?: string): TakenPlace {
    const taken = { place: 0, delivery, at, tenant };
    this.#running.add(taken);
    this.#oldestAt = Math.min(this.#oldestAt, at);
    if (tenant !== undefined) this.#ofTenants.set(tenant, (this.#ofTenants.get(tenant) ?? 0) + 1);
    return taken;
  }

  /** Does nothing for a place that was freed before. */
  delete(taken: TakenPlace): void {
    const { tenant } = taken;
    if (!this.#running.delete(taken) || tenant === undefined) return;
    const left = (this.#ofTenants.get(tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenants.set(tenant, left);
    else this.#ofTenants.delete(tenant);
  }

  /** A handler that never ends must not keep its place for ever. Its lease has ended by now. */
  #dropStuck(): void {
    const before = performance.now() - MAX_LEASE_MS;
    if (this.#oldestAt > before) return; // so that a full receiver looks at all of them seldom
    this.#oldestAt = Infinity;
    for (const taken of this.#running)
      if (taken.at > before) this.#oldestAt = Math.min(this.#oldestAt, taken.at);
      else this.delete(taken);
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
    const allDone = Promise.all([...this.#running].map(({ delivery }) => delivery.done));
    await waitAtMost(graceMs, allDone);
    const abandoned = [...this.#running].map(({ delivery }) => delivery.abandon());
    await waitAtMost(RELEASE_MS, Promise.all(abandoned));
  }
}
