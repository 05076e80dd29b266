import type { DeliverySummary } from '@call-webhooks/simulator/control-api';

/** How many deliveries a page holds. */
export const WINDOW = 200;

/** The fields of a filter that a delivery has too. */
const EXACT = ['state', 'eventName', 'ruleId', 'callId', 'url'] as const;

/** What the address of the page names, in the words of the control API. */
export const FILTER_FIELDS = [...EXACT, 'q', 'from', 'to', 'before', 'after'] as const;

/** Which deliveries are shown. A field that is left out matches all. */
export type Filter = Readonly<{ [Name in (typeof FILTER_FIELDS)[number]]?: string | undefined }>;

/** Whether only the simulator can tell what matches: a search, or a page that is not the latest. */
const isSearch = ({ q, before, after }: Filter): boolean =>
  [q, before, after].some((value) => value !== undefined);

const matches = (filter: Filter, delivery: DeliverySummary): boolean =>
  EXACT.every((name) => filter[name] === undefined || filter[name] === delivery[name]) &&
  delivery.createdAt >= Number(filter.from ?? -Infinity) &&
  delivery.createdAt <= Number(filter.to ?? Infinity);

export const isFiltered = (filter: Filter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

/** The deliveries of one page, the latest ones unless the filter says otherwise. */
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
      const known = this.#deliveries.has(delivery._id);
      if (!matches(filter, delivery)) this.#deliveries.delete(delivery._id);
      else if (known || !isSearch(filter)) this.#deliveries.set(delivery._id, delivery);
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
