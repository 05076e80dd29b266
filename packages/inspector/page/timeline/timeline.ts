import { setChildren, h, byId, setText } from '../dom/element.ts';
import { KeyedList } from '../dom/keyed-list.ts';
import type { DeliverySummary } from '@call-webhooks/simulator/control-api';
import { isFiltered, WINDOW } from '../model/delivery-window.ts';
import type { Store } from '../model/store.ts';
import { deliveryRow } from './delivery-row.ts';

/** The latest deliveries that match the filters, newest first. */
export function timeline(store: Store, choose: (id: string, byKeyboard: boolean) => void): void {
  const list = h('ol', {
    class: 'rows timeline',
    'aria-label': 'Deliveries, newest first',
    reversed: true,
  });
  const none = h('p', { class: 'none' }, 'No delivery matches these filters.');
  const more = h(
    'p',
    { class: 'none' },
    `These are the latest ${String(WINDOW)}. Filter to see others.`,
  );
  setChildren(byId('timeline'), list, none, more);
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
    // Rows also depend on the selection and the policy.
    const nowReady = store.policy !== undefined;
    if (selected !== store.selected || ready !== nowReady) rows.refresh();
    selected = store.selected;
    ready = nowReady;
    none.hidden = deliveries.length > 0 || !isFiltered(store.filter);
    more.hidden = deliveries.length < WINDOW;
  });
}

/** The delivery before or after the selected one; the newest when none is selected. */
export function neighbour(store: Store, step: 1 | -1): string | undefined {
  const deliveries = store.deliveries.list();
  const at = deliveries.findIndex(({ _id }) => _id === store.selected);
  return deliveries[at < 0 ? 0 : at + step]?._id;
}

/** Announces the counts to screen readers, a second after they changed. */
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
      setText(byId('announcer'), `Deliveries: ${now}.`);
    }, 1_000);
  });
}
