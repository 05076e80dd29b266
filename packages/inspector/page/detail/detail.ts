import { setChildren, h, byId } from '../dom/element.ts';
import { KeyedList } from '../dom/keyed-list.ts';
import type { DeliveryView } from '@call-webhooks/simulator/control-api';
import { fetchDelivery } from '../live/api.ts';
import type { Store } from '../model/store.ts';
import { attempt } from '../components/action-button.ts';
import { attemptCard, type AttemptView } from './attempt-card.ts';
import { detailHead, type DetailActions } from './detail-head.ts';

/**
 * The selected delivery with all its attempts.
 * @returns a function that moves the focus there
 */
export function detail(store: Store, actions: DetailActions): () => void {
  const pane = byId('detail');
  const head = h('div', { class: 'detail-head' });
  const list = h('ol', {
    class: 'attempts',
    'aria-label': 'Attempts, newest first',
    reversed: true,
  });
  const none = h('p', { class: 'none' }, 'Nothing has been sent yet.');
  let rows = newRows();
  let shown: DeliveryView | undefined;
  let seen: unknown;
  let takesFocus = false;

  function newRows(): KeyedList<AttemptView> {
    setChildren(list);
    return new KeyedList<AttemptView>(list, keyOf, attemptCard);
  }

  function draw(delivery: DeliveryView): void {
    if (store.selected !== delivery._id) return;
    const another = shown?._id !== delivery._id;
    const first = another || shown?.attempts.length === 0;
    if (another) {
      rows = newRows();
      pane.scrollTop = 0;
    }
    const attempts = keepSame(delivery.attempts, another ? [] : (shown?.attempts ?? []));
    shown = { ...delivery, attempts };
    const focused = head.contains(document.activeElement)
      ? document.activeElement?.getAttribute('data-part')
      : undefined;
    setChildren(head, detailHead(delivery, store, actions));
    if (focused) head.querySelector<HTMLElement>(`[data-part="${focused}"]`)?.focus();
    rows.render([...attempts].reverse());
    const [newest] = list.querySelectorAll('details');
    if (first && newest) newest.open = true;
    none.hidden = attempts.length > 0;
    pane.hidden = false;
    document.body.toggleAttribute('data-detail', true);
    if (takesFocus) byId('detail-title').focus();
    takesFocus = false;
  }

  setChildren(pane, head, list, none);
  store.subscribe(() => {
    const { selected } = store;
    if (selected === undefined) {
      pane.hidden = true;
      document.body.removeAttribute('data-detail');
      shown = undefined;
      seen = undefined;
      return;
    }
    const summary = store.deliveries.get(selected) ?? selected;
    if (summary === seen) return;
    seen = summary;
    void attempt(async () => {
      draw(await fetchDelivery(selected));
    });
  });
  return () => {
    takesFocus = true;
    if (shown && shown._id === store.selected) byId('detail-title').focus();
  };
}

const keyOf = ({ kind, number }: AttemptView): string => `${kind} ${String(number)}`;

/** Unchanged attempts stay the same objects, so that they are not rendered again. */
function keepSame(now: readonly AttemptView[], before: readonly AttemptView[]): AttemptView[] {
  const known = new Map(before.map((one) => [keyOf(one), one]));
  return now.map((one) => {
    const old = known.get(keyOf(one));
    return old && old.endedAt === one.endedAt && old.result?.next === one.result?.next ? old : one;
  });
}
