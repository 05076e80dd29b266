import { setChildren, h, byId } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import { KeyedList, type KeyedRow } from '../dom/keyed-list.ts';
import type { Call } from '@call-webhooks/simulator/control-api';
import { callApi } from '../live/api.ts';
import type { Store } from '../model/store.ts';
import { span } from '../model/time.ts';
import { actionButton } from '../components/action-button.ts';
import { clockTime, countdown } from '../components/times.ts';
import { olderNote } from '../dom/keyed-list.ts';

const SHOWN = 100;

/** The calls, newest first. Selecting one shows its deliveries. */
export function callsPanel(store: Store, showOf: (call: Call) => void): void {
  const list = h('ul', { class: 'rows', 'aria-label': 'Calls' });
  const none = h('p', { class: 'none' }, 'No calls yet. Place one: press c.');
  const older = olderNote('calls');
  setChildren(byId('panel-calls'), list, none, older.element);
  const rows = new KeyedList<Call>(
    list,
    ({ _id }) => _id,
    (call) => callRow(call, showOf),
  );
  store.subscribe(() => {
    const calls = store.calls().slice(0, SHOWN);
    rows.render(calls);
    none.hidden = calls.length > 0;
    older.say(store.counts.calls - calls.length);
  });
}

function callRow(call: Call, showOf: (call: Call) => void): KeyedRow<Call> {
  const choose = h('button', {
    type: 'button',
    class: 'row',
    title: 'Show the deliveries of this call',
  });
  const side = h('div', { class: 'row-side' });
  const element = h('li', null, choose, side);
  let shown = call;
  choose.addEventListener('click', () => {
    showOf(shown);
  });
  const update = (now: Call) => {
    shown = now;
    setChildren(
      choose,
      h('span', { class: 'row-title' }, icon('phone'), now.calledName ?? now.calledNumber),
      h('span', { class: 'row-note' }, now.calledName === undefined ? '' : now.calledNumber),
      h('span', { class: 'row-note' }, ...progress(now)),
    );
    setChildren(side, now.state === 'ongoing' && endButton(now));
  };
  update(call);
  return { element, update };
}

function progress(call: Call): (Node | string)[] {
  const { dialedAt, endedAt, plannedMs, recorded, recording } = call;
  const begun = [clockTime(dialedAt), ' · '];
  if (endedAt === undefined)
    return [
      ...begun,
      h('strong', { class: 'ongoing' }, 'ongoing'),
      ...(plannedMs === undefined ? [] : [', ends ', countdown(dialedAt + plannedMs)]),
    ];
  const tape = recording ? 'recording available' : recorded ? 'recording pending' : 'not recorded';
  return [...begun, `${span(endedAt - dialedAt)} · ${tape}`];
}

const endButton = ({ _id }: Call): HTMLElement =>
  actionButton({ label: 'End', class: 'button small', title: 'End this call now' }, () =>
    callApi('POST', `/calls/${_id}/end`),
  );
