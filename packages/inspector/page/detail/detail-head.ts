import { h } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { Delivery, DeliveryState, DeliveryView } from '@call-webhooks/simulator/control-api';
import { callApi, fetchDelivery } from '../live/api.ts';
import { lastAttempt, shortUrl } from '../model/receiver.ts';
import type { Store } from '../model/store.ts';
import { nextAttempt, stateReason, STATES } from '../model/labels.ts';
import { actionButton } from '../components/action-button.ts';
import { notify } from '../components/notices.ts';
import { clockTime, countdown } from '../components/times.ts';
import { outcomeNote } from './outcome-note.ts';

/** What the details need from the rest of the page. */
export interface DetailActions {
  readonly close: () => void;
  readonly showCall: (callId: string) => void;
}

/** Sends the event of a delivery again and shows the new delivery. */
export async function resend(id: string, store: Store): Promise<void> {
  const { _id, number } = await callApi<Delivery>('POST', `/deliveries/${id}/resend`);
  const { url } = await fetchDelivery(_id);
  notify(`Sent again as #${String(number)}${url === undefined ? '' : ` to ${shortUrl(url)}`}.`);
  store.select(_id);
}

/** The event, the state and its reason, and the next attempt. */
export function detailHead(
  delivery: DeliveryView,
  store: Store,
  { close, showCall }: DetailActions,
): HTMLElement[] {
  const buttons = h(
    'div',
    { class: 'buttons' },
    named(
      'resend',
      actionButton(
        {
          label: 'Resend',
          icon: 'again',
          class: 'button small',
          title: 'Send this event again, as a new delivery (r)',
        },
        () => resend(delivery._id, store),
      ),
    ),
    named(
      'close',
      actionButton(
        {
          label: 'Close',
          icon: 'cross',
          class: 'ghost small',
          iconOnly: true,
          title: 'Close (Esc)',
        },
        () => {
          close();
          return Promise.resolve();
        },
      ),
    ),
  );
  const title = h(
    'div',
    { class: 'detail-title' },
    h(
      'h2',
      { tabindex: -1, id: 'detail-title' },
      h('span', { class: 'event' }, delivery.eventName),
      ' ',
      h('span', { class: 'number' }, `#${String(delivery.number)}`),
    ),
    buttons,
  );
  const note = outcomeNote(lastAttempt(delivery.attempts), store.outcomes);
  return [
    title,
    story(delivery, store),
    ...(note ? [note] : []),
    properties(delivery, store, showCall),
  ];
}

function story(delivery: DeliveryView, { policy }: Store): HTMLElement {
  const why = policy ? stateReason(delivery, policy) : '';
  return h(
    'p',
    { class: 'story' },
    stateBadge(delivery.state),
    h('span', null, why),
    delivery.nextAttemptAt !== undefined &&
      policy &&
      h(
        'span',
        { class: 'next' },
        `Attempt ${nextAttempt(delivery, policy)} is due `,
        countdown(delivery.nextAttemptAt),
        ', at ',
        clockTime(delivery.nextAttemptAt),
        '.',
      ),
  );
}

function properties(
  delivery: DeliveryView,
  store: Store,
  showCall: DetailActions['showCall'],
): HTMLElement {
  const call = store.call(delivery.callId);
  const rule = store.rule(delivery.ruleId);
  const callButton = h(
    'button',
    {
      type: 'button',
      class: 'link',
      'data-part': 'call',
      title: 'Show all deliveries of this call',
    },
    call?.calledName ?? call?.calledNumber ?? delivery.callId,
  );
  callButton.addEventListener('click', () => {
    showCall(delivery.callId);
  });
  const rows: [string, Node | string][] = [
    ['Receiver', delivery.url ?? 'the action was removed'],
    ['Call', callButton],
    [
      'Rule',
      `${rule?.name ?? delivery.ruleName ?? delivery.ruleId}${rule?.state === 'paused' ? ' (paused)' : ''}`,
    ],
    ['Created', clockTime(delivery.createdAt)],
    ['Id', h('code', null, delivery._id)],
  ];
  if (delivery.copyOf !== undefined)
    rows.push([
      'Copy of',
      h(
        'span',
        null,
        h('code', null, delivery.copyOf),
        delivery.copiedBy === 'resend' ? ', resent' : ', made by chaos',
      ),
    ]);
  return h(
    'dl',
    { class: 'properties' },
    rows.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))),
  );
}

function named(name: string, button: HTMLElement): HTMLElement {
  button.dataset['part'] = name;
  return button;
}

/** The state of a delivery, as colour, icon and text. */
function stateBadge(state: DeliveryState): HTMLElement {
  const look = STATES.find((one) => one.state === state);
  return h(
    'span',
    { class: 'badge', 'data-state': state },
    look && icon(look.icon),
    look?.label ?? state,
  );
}
