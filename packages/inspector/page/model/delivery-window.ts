import type { DeliverySummary } from '@call-webhooks/simulator/control-api';
import { matches, WINDOW, type Filter } from './filter.ts';
import { keepSame } from './keep-same.ts';

/** The latest deliveries that match a filter. However many there are, the page holds no more. */
export class DeliveryWindow {
  #deliveries = new Map<string, DeliverySummary>();

  get(id: string): DeliverySummary | undefined {
    return this.#deliveries.get(id);
  }

  /** The newest first. */
  list(): DeliverySummary[] {
    return [...this.#deliveries.values()].sort((one, other) => other.number - one.number);
  }

  replace(deliveries: readonly DeliverySummary[]): void {
    this.#deliveries = keepSame(deliveries, this.#deliveries);
  }

  /** Takes in what changed; an older delivery than those of a full window stays outside. */
  put(deliveries: readonly DeliverySummary[], filter: Filter): void {
    for (const delivery of deliveries) {
      if (matches(filter, delivery)) this.#deliveries.set(delivery._id, delivery);
      else this.#deliveries.delete(delivery._id);
    }
    for (const { _id } of this.list().slice(WINDOW)) this.#deliveries.delete(_id);
  }
}
