import type { ChangeEmitter } from '../change-emitter.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Delivery, DeliveryState } from './delivery.ts';

/** Which deliveries to list. A field that is left out matches all. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  ruleId?: string | undefined;
  callId?: string | undefined;
  eventName?: string | undefined;
}

const FINISHED: readonly DeliveryState[] = ['acknowledged', 'failed', 'dropped'];

/** All deliveries, in the order of creation. Records are immutable: `put` replaces them. */
export class DeliveryLog {
  readonly #changes: ChangeEmitter;
  readonly #keep: number;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #counts = new Map<DeliveryState, number>();
  #created = 0;

  /** @param keep how many deliveries to keep; beyond it, the oldest finished one is removed */
  constructor(changes: ChangeEmitter, keep: number) {
    this.#changes = changes;
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
    if (!delivery) throw new SimulatorError('not-found', 'No delivery has this id.');
    return delivery;
  }

  add(make: (number: number) => Delivery): Delivery {
    const delivery = this.put(make(this.#created++));
    if (this.#deliveries.size > this.#keep) this.#removeOldest();
    return delivery;
  }

  put(delivery: Delivery): Delivery {
    const old = this.#deliveries.get(delivery._id);
    if (old) this.#count(old.state, -1);
    this.#deliveries.set(delivery._id, delivery);
    this.#count(delivery.state, 1);
    this.#changes.emit('delivery', delivery._id);
    return delivery;
  }

  /** The number of deliveries in each state. */
  counts(): Partial<Record<DeliveryState, number>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0));
  }

  get created(): number {
    return this.#created;
  }

  restore(deliveries: readonly Delivery[], created: number): void {
    this.#deliveries.clear();
    this.#counts.clear();
    for (const delivery of deliveries) {
      this.#deliveries.set(delivery._id, delivery);
      this.#count(delivery.state, 1);
    }
    this.#created = created;
  }

  #count(state: DeliveryState, by: 1 | -1): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }

  #removeOldest(): void {
    for (const { _id, state } of this.#deliveries.values()) {
      if (!FINISHED.includes(state)) continue;
      this.#deliveries.delete(_id);
      this.#count(state, -1);
      return;
    }
  }
}

const INTERRUPTED = { kind: 'connection-error', code: 'ECONNABORTED' } as const;

/** A delivery whose attempt in flight ended with the process: it counts as a connection error. */
export function interrupted(delivery: Delivery): Delivery {
  const attempts = delivery.attempts.map((attempt) =>
    attempt.response ? attempt : { ...attempt, response: INTERRUPTED },
  );
  return { ...delivery, attempts };
}
