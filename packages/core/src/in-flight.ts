import { WebhookError } from './errors.ts';
import { MAX_LEASE_MS } from './store/lease.ts';
import { Bag, RELEASE_MS, waitAtMost, type Bagged } from './time.ts';

/** A delivery that is being handled. */
export interface RunningDelivery {
  /** Settles when it ends; never rejects. */
  readonly done: Promise<unknown>;
  /** Whether it waits for another event of its group, and so takes up no place. */
  readonly isWaiting: boolean;
  /** Gives up on it at shutdown: aborts the handler and releases its lease. */
  abandon(): Promise<void>;
}

/** The place that a delivery takes up. */
interface Place extends Bagged {
  readonly delivery: RunningDelivery;
  /** Since when; milliseconds of `performance.now()`. */
  readonly at: number;
  readonly tenant: string | undefined;
}

/** Limits the deliveries that are handled at the same time, and stops admitting at shutdown. */
export class InFlight {
  readonly #max: number;
  readonly #maxPerTenant: number;
  readonly #places = new Bag<Place>();
  readonly #ofTenants = new Map<string, number>();
  /** None of them is older; milliseconds of `performance.now()`. */
  #oldestAt = Infinity;
  #draining = false;
  #closing = false;

  constructor(maxInFlight: number, maxPerTenant = maxInFlight) {
    this.#max = maxInFlight;
    this.#maxPerTenant = maxPerTenant;
  }

  /** Whether it is closing, or soon will be. */
  get draining(): boolean {
    return this.#draining;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** How many deliveries are being handled. */
  get size(): number {
    return this.#places.size;
  }

  /** Whether as many deliveries are running as may run. */
  get full(): boolean {
    return this.#isFull(() => this.#running);
  }

  /**
   * How many are running. Those that wait for their group are not, as long as they are fewer than
   * `maxInFlight`: many events of one call must not keep out all others.
   */
  get #running(): number {
    if (this.#places.size < this.#max) return this.#places.size;
    let waiting = 0;
    for (const { delivery } of this.#places) if (delivery.isWaiting) waiting += 1;
    return this.#places.size - Math.min(waiting, this.#max);
  }

  /** @throws WebhookError `shutting-down`, `overloaded` */
  check(tenant?: string): void {
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (tenant !== undefined && this.#isFull(() => this.#runningOf(tenant), this.#maxPerTenant))
      throw new WebhookError(
        'overloaded',
        `The receiver is already handling ${String(this.#maxPerTenant)} deliveries of this tenant (maxInFlightPerTenant).`,
      );
    if (this.full)
      throw new WebhookError(
        'overloaded',
        `The receiver is already handling ${String(this.#max)} deliveries (maxInFlight).`,
      );
  }

  #runningOf(tenant: string): number {
    return this.#ofTenants.get(tenant) ?? 0;
  }

  #isFull(count: () => number, max = this.#max): boolean {
    if (count() < max) return false;
    this.#dropStuck();
    return count() >= max;
  }

  /**
   * Takes a place until the delivery ends.
   * @param at `performance.now()`
   */
  add(delivery: RunningDelivery, at: number, tenant?: string): void {
    const place = { place: 0, delivery, at, tenant };
    this.#places.add(place);
    this.#oldestAt = Math.min(this.#oldestAt, at);
    if (tenant !== undefined) this.#ofTenants.set(tenant, this.#runningOf(tenant) + 1);
    void delivery.done.then(() => this.#free(place));
  }

  #free(place: Place): void {
    const { tenant } = place;
    if (!this.#places.delete(place) || tenant === undefined) return;
    const left = this.#runningOf(tenant) - 1;
    if (left > 0) this.#ofTenants.set(tenant, left);
    else this.#ofTenants.delete(tenant);
  }

  /** A handler that never ends must not keep its place for ever. Its lease has ended by now. */
  #dropStuck(): void {
    const before = performance.now() - MAX_LEASE_MS;
    if (this.#oldestAt > before) return; // so that a full receiver looks at all of them seldom
    this.#oldestAt = Infinity;
    for (const place of this.#places)
      if (place.at > before) this.#oldestAt = Math.min(this.#oldestAt, place.at);
      else this.#free(place);
  }

  /**
   * Stops admitting, waits for running deliveries, and abandons those that are not done in time.
   * It ends within `graceMs` and one second, even if the store does not answer.
   * @param graceMs milliseconds to wait
   * @param delayMs milliseconds in which it still admits
   */
  async close(graceMs: number, delayMs = 0): Promise<void> {
    this.#draining = true;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#closing = true;
    await Promise.resolve(); // a handler that calls this as it starts has not been added yet
    this.#dropStuck();
    const running = () => [...this.#places].map(({ delivery }) => delivery);
    await waitAtMost(graceMs, Promise.all(running().map(({ done }) => done)));
    await waitAtMost(RELEASE_MS, Promise.all(running().map((delivery) => delivery.abandon())));
  }
}
