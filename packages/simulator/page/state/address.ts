import { changeUrl, onUrlChange, readUrl } from '@call-webhooks/ui';
import { FILTER_FIELDS } from './delivery-window.ts';
import type { Store } from './store.ts';

/**
 * Keeps the filters and the selection in the address of the page, so that a reload and Back work.
 * @param go called when the filter changed because of Back or Forward
 */
export function keepAddress(store: Store, go: () => void): void {
  const apply = () => {
    const query = readUrl();
    const given = FILTER_FIELDS.map((name) => [name, query.get(name)] as const);
    store.setFilter(Object.fromEntries(given.filter(([, value]) => value !== null)));
    store.select(query.get('delivery') ?? undefined);
  };
  let writing = false;
  apply();
  store.subscribe(() => {
    const { filter, selected } = store;
    const fields: Record<string, string | undefined> = { delivery: selected };
    for (const name of FILTER_FIELDS) fields[name] = filter[name];
    // Back leaves a search as a whole, not letter by letter.
    const typing = filter.q !== undefined && readUrl().has('q');
    writing = true;
    changeUrl(fields, typing && filter.q !== readUrl().get('q') ? 'replace' : 'push');
    writing = false;
  });
  onUrlChange(() => {
    if (writing) return;
    apply();
    go();
  });
}
