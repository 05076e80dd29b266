import type { Filter } from '../model/delivery-window.ts';
import type { Store } from '../model/store.ts';

const FILTERS = ['state', 'eventName', 'ruleId', 'callId', 'url'] as const;

/** What the address of the page says: the filters and the selected delivery. */
interface Place {
  readonly filter: Filter;
  readonly selected: string | undefined;
}

function read(): Place {
  const query = new URLSearchParams(location.search);
  const given = FILTERS.map((name) => [name, query.get(name) ?? undefined] as const);
  const filter = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Filter;
  return { filter, selected: query.get('delivery') ?? undefined };
}

function addressOf({ filter, selected }: Place): string {
  const query = new URLSearchParams();
  for (const name of FILTERS) if (filter[name] !== undefined) query.set(name, filter[name]);
  if (selected !== undefined) query.set('delivery', selected);
  return query.size === 0 ? location.pathname : `?${query.toString()}`;
}

/**
 * Keeps the filters and the selection in the address of the page, so that a reload and Back work.
 * @param go called for Back and Forward, after the store has what the address says
 */
export function keepAddress(store: Store, go: () => void): void {
  const apply = () => {
    const { filter, selected } = read();
    store.setFilter(filter);
    store.select(selected);
  };
  apply();
  let written = addressOf(store);
  store.subscribe(() => {
    const address = addressOf(store);
    if (address === written) return;
    written = address;
    history.pushState(null, '', address);
  });
  addEventListener('popstate', () => {
    apply();
    written = addressOf(store);
    go();
  });
}
