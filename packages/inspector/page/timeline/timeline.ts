import { fill, h, part, write } from '../dom/element.ts';
import { KeyedList } from '../dom/keyed-list.ts';
import type { DeliverySummary } from '@call-webhooks/simulator/control-api';
import { isFiltered, WINDOW } from '../model/filter.ts';
import type { Store } from '../model/store.ts';
import { deliveryRow } from './delivery-row.ts';

/** The deliveries, the newest first: the latest of those that match the filters. */
export function timeline(store: Store, choose: (id: string, byKeyboard: boolean) => void): void {
  const list = h('ol', {
    class: 'rows timeline',
    'aria-label': 'Deliveries, the newest first',
    reversed: true,
  });
  const none = h('p', { class: 'none' }, 'No delivery matches these filters.');
  const more = h(
    'p',
    { class: 'none' },
    `Only the latest ${String(WINDOW)} are shown. Filter to see others.`,
  );
  fill(part('timeline'), list, none, more);
  const rows = new KeyedList<DeliverySummary>(
    list,
    ({ _id }) => _id,
    (delivery) => deliveryRow(delivery, store, choose),
  );
  let selected: string | undefined;
  let ready = false;

  store.subscribe(() => {
    const deliveries = store.deliveries.list();
    rows.render(deliveries);
    // Rows also show whether they are chosen, and what the policy makes of them.
    const nowReady = store.policy !== undefined;
    if (selected !== store.selected || ready !== nowReady) rows.refresh();
    selected = store.selected;
    ready = nowReady;
    none.hidden = deliveries.length > 0 || !isFiltered(store.filter);
    more.hidden = deliveries.length < WINDOW;
  });
}

/** The delivery before or after the chosen one; the newest when none is. */
export function neighbour(store: Store, step: 1 | -1): string | undefined {
  const deliveries = store.deliveries.list();
  const at = deliveries.findIndex(({ _id }) => _id === store.selected);
  return deliveries[at < 0 ? 0 : at + step]?._id;
}

/** Says how many deliveries there are of each state, a while after they have changed. */
export function announceCounts(store: Store): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let before = '';
  store.subscribe(() => {
    const now = Object.entries(store.counts.deliveries)
      .map(([state, count]) => `${String(count)} ${state}`)
      .join(', ');
    if (now === before || now === '') return;
    before = now;
    clearTimeout(timer);
    timer = setTimeout(() => {
      write(part('announcer'), `Deliveries: ${now}.`);
    }, 1_000);
  });
}
