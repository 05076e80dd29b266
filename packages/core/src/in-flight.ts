import { Bag, type Bagged } from './bag.ts';
import { WebhookError } from './errors.ts';
import { MAX_LEASE_MS } from './store/lease.ts';
import { MAX_TIMER_MS, RELEASE_MS, waitAtMost } from './time.ts';

/** A delivery that is being handled. */
export interface RunningDelivery extends Bagged {
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly tenant: string | undefined;
  /** Whether it waits for another event of its group, and so takes up no place. */
  readonly isWaiting: boolean;
  /** Gives up on it at shutdown: aborts the handler and releases its lease. */
  abandon(): Promise<void>;
}

/** The longest wait for a body, a group and the store, before the lease is taken; milliseconds. */
const MAX_WAIT_MS = 40_000;

/** Limits the deliveries that are handled at the same time, and stops admitting at shutdown. */
export class InFlight {
  readonly #max: number;
  readonly #maxPerTenant: number;
  readonly #deliveries = new Bag<RunningDelivery>();
  readonly #ofTenants = new Map<string, number>();
  /** None of them is older; milliseconds of `performance.now()`. */
  #oldestAt = Infinity;
  /** Called when the last delivery has ended. */
  readonly #closings: (() => void)[] = [];
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
    return this.#deliveries.size;
  }

  /** Whether as many deliveries are running as may run. */
  get full(): boolean {
    return this.#isFull();
  }

  /**
   * Takes a place for a delivery, until `remove`.
   * @throws WebhookError `shutting-down`, `overloaded`
   */
  add(delivery: RunningDelivery): void {
    const { tenant, startedAt } = delivery;
    if (this.#closing) throw new WebhookError('shutting-down', 'The receiver is closing.');
    if (tenant !== undefined && this.#isFull(tenant))
      throw new WebhookError(
        'overloaded',
        `The receiver is already handling ${String(this.#maxPerTenant)} deliveries of this tenant (maxInFlightPerTenant).`,
      );
    if (this.#isFull())
      throw new WebhookError(
        'overloaded',
        `The receiver is already handling ${String(this.#max)} deliveries (maxInFlight).`,
      );
    this.#deliveries.add(delivery);
    this.#oldestAt = Math.min(this.#oldestAt, startedAt);
    if (tenant !== undefined) this.#ofTenants.set(tenant, this.#countOf(tenant) + 1);
  }

  /** How many there are of one tenant, or of all. */
  #countOf(tenant: string | undefined): number {
    return tenant === undefined ? this.#deliveries.size : (this.#ofTenants.get(tenant) ?? 0);
  }

  /**
   * Whether as many are running as may run, of one tenant or of all. Those that wait for their group are
   * not, as long as they are fewer than may run: many events of one call must not keep out all others.
   */
  #isFull(tenant?: string): boolean {
    const max = tenant === undefined ? this.#max : this.#maxPerTenant;
    if (this.#countOf(tenant) < max) return false;
    this.#dropStuck();
    let waiting = 0;
    for (const one of this.#deliveries)
      if (one.isWaiting && (tenant === undefined || one.tenant === tenant)) waiting += 1;
    return this.#countOf(tenant) - Math.min(waiting, max) >= max;
  }

  /** Frees the place of a delivery, unless that was done before. */
  remove(delivery: RunningDelivery): void {
    const { tenant } = delivery;
    if (!this.#deliveries.delete(delivery)) return;
    if (this.#deliveries.size === 0) for (const resolve of this.#closings) resolve();
    if (tenant === undefined) return;
    const left = this.#countOf(tenant) - 1;
    if (left > 0) this.#ofTenants.set(tenant, left);
    else this.#ofTenants.delete(tenant);
  }

  /** A handler that never ends must not keep its place forever. Its lease has ended by now. */
  #dropStuck(): void {
    const before = performance.now() - MAX_WAIT_MS - MAX_LEASE_MS;
    if (this.#oldestAt > before) return; // so that a full receiver looks at all of them seldom
    this.#oldestAt = Infinity;
    for (const delivery of this.#deliveries)
      if (delivery.startedAt <= before) this.remove(delivery);
      else this.#oldestAt = Math.min(this.#oldestAt, delivery.startedAt);
  }

  /**
   * Stops admitting, waits for running deliveries, and abandons those that are not done in time.
   * It ends within `graceMs` and one second, even if the store does not answer.
   * @param graceMs milliseconds to wait
   * @param delayMs milliseconds in which it still admits
   */
  async close(graceMs: number, delayMs = 0): Promise<void> {
    this.#draining = true;
    if (delayMs > 0)
      await new Promise((resolve) => setTimeout(resolve, Math.min(delayMs, MAX_TIMER_MS)));
    this.#closing = true;
    this.#dropStuck();
    if (this.#deliveries.size > 0)
      await waitAtMost(graceMs, new Promise<void>((resolve) => this.#closings.push(resolve)));
    const left = [...this.#deliveries].map((delivery) => delivery.abandon());
    await waitAtMost(RELEASE_MS, Promise.all(left));
  }
}
