import { fill, h, part, setAttribute, write } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import { KeyedList, type KeyedRow } from '../dom/keyed-list.ts';
import type { Action, PolicyView, Rule } from '@call-webhooks/simulator/control-api';
import { ask } from '../live/ask.ts';
import { span } from '../model/time.ts';
import type { Store } from '../model/store.ts';
import { PAUSED } from '../model/words.ts';
import { actionButton } from '../parts/action-button.ts';
import { forwardForm } from '../parts/forward-form.ts';
import { clockTime } from '../parts/ticking.ts';
import { secretRow } from './secret.ts';

/** The rules with their state, their actions and secrets; and a form that makes new ones. */
export function rulesPanel(store: Store, showOf: (rule: Rule) => void): void {
  const list = h('ul', { class: 'cards', 'aria-label': 'Rules' });
  const none = h('p', { class: 'none' }, 'No rules yet: nothing is delivered.');
  const more = h(
    'details',
    { class: 'more', id: 'add-rules' },
    h('summary', null, 'Forward to another receiver'),
    forwardForm(),
  );
  const policy = h('p', { class: 'hint policy' });
  fill(part('panel-rules'), list, none, more, policy);
  const rows = new KeyedList<Rule>(
    list,
    ({ _id }) => _id,
    (rule) => ruleCard(rule, showOf),
  );
  store.subscribe(() => {
    const rules = store.rules();
    rows.render(rules);
    none.hidden = rules.length > 0;
    more.hidden = rules.length === 0;
    write(policy, store.policy ? policyText(store.policy) : '');
  });
}

const policyText = ({ maxAttempts, retryEvery, acknowledgeWithin }: PolicyView): string =>
  `A receiver has ${span(acknowledgeWithin)} to answer 2xx. Otherwise it is tried again about every ${span(retryEvery)}, ` +
  `up to ${String(maxAttempts)} attempts; when the last one fails, or at a 404, the rule is paused.`;

function ruleCard(rule: Rule, showOf: (rule: Rule) => void): KeyedRow<Rule> {
  const head = h('div', { class: 'card-head' });
  const why = h('p', { class: 'why' });
  const actions = h('ul', { class: 'actions' });
  const buttons = h('div', { class: 'buttons' });
  const element = h(
    'li',
    { class: 'card rule' },
    head,
    h('p', { class: 'trigger' }, triggerOf(rule)),
    why,
    actions,
    buttons,
  );
  const rows = new KeyedList<Action>(
    actions,
    ({ _id }) => _id,
    (action) => actionRow(rule._id, action),
  );
  const update = (now: Rule) => {
    const paused = now.state === 'paused';
    setAttribute(element, 'data-state', now.state);
    fill(head, h('h3', null, now.name), ruleState(paused));
    fill(why, ...reason(now));
    why.hidden = !paused;
    rows.render(now.actions);
    const had = buttons.contains(document.activeElement);
    fill(buttons, switchOf(now), deliveriesOf(now, showOf));
    if (had) buttons.querySelector('button')?.focus();
  };
  update(rule);
  return { element, update };
}

function triggerOf({ trigger, kind, scope }: Rule): string {
  if (kind === 'recording-webhook') return `On ${trigger}`;
  return `On ${trigger}, a ${scope === 'user' ? 'user’s' : 'workspace’s'} rule`;
}

const ruleState = (paused: boolean): HTMLElement =>
  h(
    'span',
    { class: 'badge', 'data-state': paused ? 'failed' : 'acknowledged' },
    icon(paused ? 'pause' : 'check'),
    paused ? 'Paused' : 'Active',
  );

function reason({ pauseReason, pausedAt, scope }: Rule): (Node | string)[] {
  if (!pauseReason || pausedAt === undefined) return [];
  const mailed =
    scope === 'workspace' ? 'The workspace’s admins were mailed.' : 'Its owner was mailed.';
  return [
    'Paused at ',
    clockTime(pausedAt),
    `, because ${PAUSED[pauseReason]}. `,
    pauseReason === 'by-hand' ? '' : mailed,
  ];
}

function switchOf({ _id, state }: Rule): HTMLElement {
  if (state === 'paused')
    return actionButton({ label: 'Resume', icon: 'forward', class: 'button small primary' }, () =>
      ask('POST', `/rules/${_id}/resume`),
    );
  return actionButton({ label: 'Pause', icon: 'pause', class: 'button small' }, () =>
    ask('POST', `/rules/${_id}/pause`),
  );
}

function deliveriesOf(rule: Rule, showOf: (rule: Rule) => void): HTMLElement {
  const button = h('button', { type: 'button', class: 'ghost small' }, 'Its deliveries');
  button.addEventListener('click', () => {
    showOf(rule);
  });
  return button;
}

function actionRow(ruleId: string, action: Action): KeyedRow<Action> {
  const url = h('code', { class: 'url' });
  const notes = h('p', { class: 'hint' });
  const secret = h('div', null);
  const element = h('li', null, url, notes, secret);
  let signed: boolean | undefined;
  const update = (now: Action) => {
    fill(url, now.url);
    setAttribute(url, 'title', now.url);
    fill(notes, now.payload === undefined ? null : 'sends a custom payload');
    notes.hidden = now.payload === undefined;
    if (signed === now.signed) return;
    signed = now.signed;
    fill(
      secret,
      signed
        ? secretRow(ruleId, now._id)
        : h(
            'p',
            { class: 'hint' },
            'An old action without a secret: its deliveries are not signed.',
          ),
    );
  };
  update(action);
  return { element, update };
}
