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
  readonly #maxPerTenant: number;
  /** With the time at which each was added, the oldest first. */
  readonly #running = new Map<RunningDelivery, number>();
  /** Those of tenants, and how many are running of each. */
  readonly #tenants = new Map<RunningDelivery, string>();
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
  add(delivery: RunningDelivery, at: number, tenant?: string): void {
    this.#running.set(delivery, at);
    if (tenant === undefined) return;
    this.#tenants.set(delivery, tenant);
    this.#ofTenants.set(tenant, (this.#ofTenants.get(tenant) ?? 0) + 1);
  }

  delete(delivery: RunningDelivery): void {
    this.#running.delete(delivery);
    const tenant = this.#tenants.get(delivery);
    if (tenant === undefined) return;
    this.#tenants.delete(delivery);
    const left = (this.#ofTenants.get(tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenants.set(tenant, left);
    else this.#ofTenants.delete(tenant);
  }

  /** A handler that never ends must not keep its place for ever. Its lease has ended by now. */
  #dropStuck(): void {
    const before = performance.now() - MAX_LEASE_MS;
    for (const [delivery, at] of this.#running) {
      if (at > before) return;
      this.delete(delivery);
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
