import { setChildren, h, byId, setAttribute, setText } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { DeliveryState, EventName } from '@call-webhooks/simulator/control-api';
import type { Filter } from '../model/delivery-window.ts';
import { shortUrl, urlsOf } from '../model/receiver.ts';
import type { Store } from '../model/store.ts';
import { STATES } from '../model/labels.ts';

const EVENTS: readonly EventName[] = ['call:started', 'call:completed', 'call:recording-available'];

/** The filters. Each state shows its count. */
export function filters(store: Store, change: (filter: Filter) => void): void {
  const all = chip('All', undefined);
  const states = STATES.map(({ state, label }) => ({ state, ...chip(label, state) }));
  const events = h(
    'select',
    { 'aria-label': 'Event', id: 'event-filter' },
    h('option', { value: '' }, 'All events'),
    EVENTS.map((name) => h('option', { value: name }, name)),
  );
  const receivers = h('select', { 'aria-label': 'Receiver', id: 'receiver-filter' });
  const of = h('button', { type: 'button', class: 'chip of', title: 'Show all' });
  setChildren(
    byId('filters'),
    h(
      'div',
      { class: 'chips', role: 'group', 'aria-label': 'State' },
      all.element,
      states.map(({ element }) => element),
    ),
    h('div', { class: 'chips' }, of, receivers, events),
  );

  const narrow = (by: Filter) => {
    change({ ...store.filter, ...by });
  };
  all.element.addEventListener('click', () => {
    narrow({ state: undefined });
  });
  for (const { state, element } of states)
    element.addEventListener('click', () => {
      narrow({ state: store.filter.state === state ? undefined : state });
    });
  events.addEventListener('change', () => {
    narrow({ eventName: events.value === '' ? undefined : (events.value as EventName) });
  });
  receivers.addEventListener('change', () => {
    narrow({ url: receivers.value === '' ? undefined : receivers.value });
  });
  let offered = '';
  const offerReceivers = () => {
    const { url } = store.filter;
    const known = urlsOf(store.rules().flatMap(({ actions }) => actions));
    const urls = url === undefined || known.includes(url) ? known : [...known, url];
    receivers.hidden = urls.length < 2 && url === undefined;
    // Made anew only when they change: an open list would close.
    if (offered !== urls.join(' ')) {
      offered = urls.join(' ');
      const options = urls.map((one) => h('option', { value: one }, shortUrl(one)));
      setChildren(receivers, h('option', { value: '' }, 'All receivers'), options);
    }
    receivers.value = url ?? '';
  };
  of.addEventListener('click', () => {
    narrow({ ruleId: undefined, callId: undefined });
    byId('event-filter').focus();
  });

  store.subscribe(() => {
    const { filter, counts } = store;
    const total = Object.values(counts.deliveries).reduce((sum, count) => sum + count, 0);
    all.show(total, filter.state === undefined);
    for (const { state, element, show } of states) {
      element.hidden = isOfOtherPolicy(state, store);
      show(counts.deliveries[state] ?? 0, filter.state === state);
    }
    events.value = filter.eventName ?? '';
    offerReceivers();
    const name = nameOf(store, filter);
    of.hidden = name === undefined;
    if (name !== undefined) setChildren(of, name, icon('cross'));
  });
}

/** Paused rules either hold or drop their events, so one of the two states stays empty. */
function isOfOtherPolicy(state: DeliveryState, { policy, counts }: Store): boolean {
  const other = policy?.whilePaused === 'hold' ? 'dropped' : 'held';
  return state === other && (counts.deliveries[state] ?? 0) === 0;
}

function chip(label: string, state: string | undefined) {
  const number = h('span', { class: 'chip-count', 'data-count': state ?? 'all' }, '0');
  const element = h(
    'button',
    { type: 'button', class: 'chip', 'data-state': state },
    label,
    ' ',
    number,
  );
  const show = (count: number, pressed: boolean) => {
    setText(number, count.toLocaleString());
    setAttribute(element, 'aria-pressed', String(pressed));
    element.toggleAttribute('data-none', count === 0);
  };
  return { element, show };
}

function nameOf(store: Store, { ruleId, callId }: Filter): string | undefined {
  if (ruleId !== undefined) return `Rule: ${store.rule(ruleId)?.name ?? ruleId}`;
  if (callId === undefined) return undefined;
  const call = store.call(callId);
  return `Call: ${call?.calledName ?? call?.calledNumber ?? callId}`;
}
