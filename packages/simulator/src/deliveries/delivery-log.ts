import type { Journal } from '../journal.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Delivery, DeliveryState } from './delivery.ts';

/** What deliveries are asked for. What is left out matches all. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  ruleId?: string | undefined;
  callId?: string | undefined;
  eventName?: string | undefined;
}

const OVER: readonly DeliveryState[] = ['acknowledged', 'failed', 'dropped'];

/** All deliveries, in the order in which they were made. Records are never changed, only replaced. */
export class DeliveryLog {
  readonly #journal: Journal;
  readonly #keep: number;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #counts = new Map<DeliveryState, number>();
  #made = 0;

  /** @param keep how many are kept: beyond that the oldest that are over are forgotten */
  constructor(journal: Journal, keep: number) {
    this.#journal = journal;
    this.#keep = keep;
  }

  list(filter: DeliveryFilter = {}): Delivery[] {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return [...this.#deliveries.values()].filter((delivery) =>
      wanted.every(([name, value]) => delivery[name as keyof DeliveryFilter] === value),
    );
  }

  find(id: string): Delivery | undefined {
    return this.#deliveries.get(id);
  }

  /** @throws SimulatorError `not-found` */
  get(id: string): Delivery {
    const delivery = this.#deliveries.get(id);
    if (!delivery) throw new SimulatorError('not-found', 'There is no delivery with this id.');
    return delivery;
  }

  add(make: (number: number) => Delivery): Delivery {
    const delivery = this.put(make(this.#made++));
    if (this.#deliveries.size > this.#keep) this.#forgetOldest();
    return delivery;
  }

  put(delivery: Delivery): Delivery {
    const old = this.#deliveries.get(delivery._id);
    if (old) this.#count(old.state, -1);
    this.#deliveries.set(delivery._id, delivery);
    this.#count(delivery.state, 1);
    this.#journal.record('delivery', delivery._id);
    return delivery;
  }

  /** How many there are in each state. */
  counts(): Partial<Record<DeliveryState, number>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0));
  }

  get made(): number {
    return this.#made;
  }

  restore(deliveries: readonly Delivery[], made: number): void {
    this.#deliveries.clear();
    this.#counts.clear();
    for (const delivery of deliveries) {
      this.#deliveries.set(delivery._id, delivery);
      this.#count(delivery.state, 1);
    }
    this.#made = made;
  }

  #count(state: DeliveryState, by: 1 | -1): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }

  #forgetOldest(): void {
    for (const { _id, state } of this.#deliveries.values()) {
      if (!OVER.includes(state)) continue;
      this.#deliveries.delete(_id);
      this.#count(state, -1);
      return;
    }
  }
}
