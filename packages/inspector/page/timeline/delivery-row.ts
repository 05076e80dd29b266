import { setChildren, h, setAttribute } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { KeyedRow } from '../dom/keyed-list.ts';
import type { AttemptSummary, DeliverySummary } from '@call-webhooks/simulator/control-api';
import type { Store } from '../model/store.ts';
import { lastAttempt, shortUrl } from '../model/receiver.ts';
import { took } from '../model/time.ts';
import { responseText, attemptTone, stateReason, nextAttempt, STATES } from '../model/labels.ts';
import { clockTime, countdown } from '../components/times.ts';

const MOST_PIPS = 12;

const COPIED: Readonly<Record<NonNullable<DeliverySummary['copiedBy']>, string>> = {
  duplicate: 'duplicate',
  concurrentDuplicates: 'duplicate',
  resend: 'resent',
};

/** One delivery: event, attempts, response, outcome, receiver, call, and the reason for its state. */
export function deliveryRow(
  delivery: DeliverySummary,
  store: Store,
  choose: (id: string, byKeyboard: boolean) => void,
): KeyedRow<DeliverySummary> {
  const button = h('button', { type: 'button', class: 'row delivery', 'data-id': delivery._id });
  button.addEventListener('click', ({ detail }) => {
    choose(delivery._id, detail === 0);
  });
  const element = h('li', null, button);
  const update = (now: DeliverySummary) => {
    const selected = store.selected === now._id;
    setAttribute(button, 'data-state', now.state);
    setAttribute(button, 'aria-current', selected && 'true');
    setChildren(
      button,
      stateMark(now),
      what(now),
      pips(now),
      result(now),
      clockTime(now.createdAt, 'when'),
      note(now, store),
    );
  };
  update(delivery);
  return { element, update };
}

function stateMark({ state }: DeliverySummary): HTMLElement {
  const look = STATES.find((one) => one.state === state);
  const name = h('span', { class: 'visually-hidden' }, look?.label);
  return h('span', { class: 'mark', title: look?.label }, look && icon(look.icon), name);
}

const what = ({ eventName, number, copiedBy }: DeliverySummary): HTMLElement =>
  h(
    'span',
    { class: 'what' },
    h('span', { class: 'event' }, eventName),
    h('span', { class: 'number' }, `#${String(number)}`),
    copiedBy && h('span', { class: 'tag' }, COPIED[copiedBy]),
  );

function pips({ attempts }: DeliverySummary): HTMLElement {
  const shown = attempts.slice(-MOST_PIPS);
  const count = `${String(attempts.length)} attempt${attempts.length === 1 ? '' : 's'}`;
  return h(
    'span',
    { class: 'pips', title: count },
    h('span', { class: 'visually-hidden' }, count),
    shown.map((attempt) => h('i', { 'data-tone': attemptTone(attempt) })),
  );
}

function result({ attempts }: DeliverySummary): HTMLElement {
  const last = lastAttempt(attempts);
  return h('span', { class: 'result' }, last && [answer(last), time(last)]);
}

const answer = (attempt: AttemptSummary): HTMLElement =>
  h(
    'span',
    { class: 'answer', 'data-tone': attemptTone(attempt), title: responseText(attempt) },
    responseText(attempt),
  );

const time = ({ tookMs }: AttemptSummary): HTMLElement =>
  h('span', { class: 'took' }, tookMs === undefined ? '' : took(tookMs));

function note(delivery: DeliverySummary, store: Store): HTMLElement {
  const call = store.call(delivery.callId);
  const why = store.policy && stateReason(delivery, store.policy);
  const outcome = lastAttempt(delivery.attempts)?.outcome;
  return h(
    'span',
    { class: 'note' },
    outcome && h('strong', { class: 'outcome', title: store.outcomes?.[outcome]?.when }, outcome),
    delivery.url !== undefined &&
      h('span', { class: 'receiver', title: delivery.ruleName }, shortUrl(delivery.url)),
    h('span', null, call?.calledName ?? call?.calledNumber ?? delivery.callId),
    why && h('span', { class: 'because' }, why),
    delivery.nextAttemptAt !== undefined &&
      store.policy &&
      h(
        'span',
        { class: 'next' },
        `attempt ${nextAttempt(delivery, store.policy)} `,
        countdown(delivery.nextAttemptAt),
      ),
  );
}
