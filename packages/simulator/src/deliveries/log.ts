import { Records, type ChangeEmitter } from '../records.ts';
import type { Delivery, DeliveryState } from './delivery.ts';

/** Which deliveries to list. A field that is left out matches all. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  ruleId?: string | undefined;
  callId?: string | undefined;
  eventName?: string | undefined;
}

const FINISHED: readonly DeliveryState[] = ['acknowledged', 'failed', 'dropped'];

/** All deliveries, in the order of creation, and the number in each state. */
export class DeliveryLog {
  readonly #deliveries: Records<Delivery>;
  readonly #counts = new Map<DeliveryState, number>();

  /** @param keep how many deliveries to keep; beyond it, the oldest finished one is removed */
  constructor(changes: ChangeEmitter, keep: number) {
    this.#deliveries = new Records('delivery', changes, {
      keep,
      isFinished: ({ state }) => FINISHED.includes(state),
      onRemoved: ({ state }) => this.#count(state, -1),
    });
  }

  list(filter: DeliveryFilter = {}): Delivery[] {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return this.#deliveries
      .list()
      .filter((delivery) =>
        wanted.every(([name, value]) => delivery[name as keyof DeliveryFilter] === value),
      );
  }

  find(id: string): Delivery | undefined {
    return this.#deliveries.find(id);
  }

  /** @throws SimulatorError `not-found` */
  get(id: string): Delivery {
    return this.#deliveries.get(id);
  }

  /** @param make is given how many deliveries were created before */
  add(make: (created: number) => Delivery): Delivery {
    return this.put(make(this.#deliveries.created));
  }

  put(delivery: Delivery): Delivery {
    const old = this.#deliveries.find(delivery._id);
    if (old) this.#count(old.state, -1);
    this.#count(delivery.state, 1);
    return this.#deliveries.put(delivery);
  }

  /** The number of deliveries in each state. */
  counts(): Partial<Record<DeliveryState, number>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0));
  }

  clear(): void {
    this.#deliveries.clear();
    this.#counts.clear();
  }

  #count(state: DeliveryState, by: 1 | -1): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }
}
