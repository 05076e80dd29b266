import type { DeliverySummary } from '@call-webhooks/simulator/control-api';

/** How many deliveries the page holds: the latest that match. */
export const WINDOW = 200;

/** Which deliveries are shown. A field that is left out matches all. */
export type Filter = Readonly<{
  [Name in 'state' | 'eventName' | 'ruleId' | 'callId' | 'url']?: DeliverySummary[Name] | undefined;
}>;

export const matches = (filter: Filter, delivery: DeliverySummary): boolean =>
  (Object.keys(filter) as (keyof Filter)[]).every(
    (name) => filter[name] === undefined || filter[name] === delivery[name],
  );

export const isFiltered = (filter: Filter): boolean =>
  (Object.values(filter) as unknown[]).some((value) => value !== undefined);

/** The latest deliveries that match a filter. */
export class DeliveryWindow {
  #deliveries = new Map<string, DeliverySummary>();

  get(id: string): DeliverySummary | undefined {
    return this.#deliveries.get(id);
  }

  /** Newest first. */
  list(): DeliverySummary[] {
    return [...this.#deliveries.values()].sort((one, other) => other.number - one.number);
  }

  replace(deliveries: readonly DeliverySummary[]): void {
    this.#deliveries = keepSame(deliveries, this.#deliveries);
  }

  /** Applies changes. Deliveries beyond the window are left out. */
  put(deliveries: readonly DeliverySummary[], filter: Filter): void {
    for (const delivery of deliveries) {
      if (matches(filter, delivery)) this.#deliveries.set(delivery._id, delivery);
      else this.#deliveries.delete(delivery._id);
    }
    for (const { _id } of this.list().slice(WINDOW)) this.#deliveries.delete(_id);
  }
}

interface Row {
  readonly _id: string;
}

/** Rows by id. Equal rows stay the same objects, so that they are not rendered again. */
export function keepSame<Kind extends Row>(
  now: readonly Kind[],
  before: ReadonlyMap<string, Kind>,
): Map<string, Kind> {
  return new Map(
    now.map((row) => {
      const old = before.get(row._id);
      return [row._id, old && JSON.stringify(old) === JSON.stringify(row) ? old : row];
    }),
  );
}
