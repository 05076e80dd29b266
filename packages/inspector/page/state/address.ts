import { changeUrl, onUrlChange, readUrl } from '@call-webhooks/ui';
import type { Store } from './store.ts';

const FILTERS = ['state', 'eventName', 'ruleId', 'callId', 'url'] as const;

/**
 * Keeps the filters and the selection in the address of the page, so that a reload and Back work.
 * @param go called when the filter changed because of Back or Forward
 */
export function keepAddress(store: Store, go: () => void): void {
  const apply = () => {
    const query = readUrl();
    const given = FILTERS.map((name) => [name, query.get(name)] as const);
    store.setFilter(Object.fromEntries(given.filter(([, value]) => value !== null)));
    store.select(query.get('delivery') ?? undefined);
  };
  let writing = false;
  apply();
  store.subscribe(() => {
    const { filter, selected } = store;
    writing = true;
    const { state, eventName, ruleId, callId, url } = filter;
    changeUrl({ state, eventName, ruleId, callId, url, delivery: selected });
    writing = false;
  });
  onUrlChange(() => {
    if (writing) return;
    apply();
    go();
  });
}
