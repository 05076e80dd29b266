import { setChildren, h, byId, setAttribute, setText } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import { KeyedList, type KeyedRow } from '../dom/keyed-list.ts';
import type { Action, PolicyView, Rule } from '@call-webhooks/simulator/control-api';
import { callApi } from '../live/api.ts';
import { span } from '../model/time.ts';
import type { Store } from '../model/store.ts';
import { PAUSE_REASONS } from '../model/labels.ts';
import { actionButton } from '../components/action-button.ts';
import { forwardForm } from '../components/forward-form.ts';
import { clockTime } from '../components/times.ts';
import { addAction, editAction, removeAction, removeRule, renameRule } from './rule-dialogs.ts';
import { secretRow } from './secret.ts';

/** The rules with their states, actions and secrets, and a form that creates new ones. */
export function rulesPanel(store: Store, showOf: (rule: Rule) => void): void {
  const list = h('ul', { class: 'cards', 'aria-label': 'Rules' });
  const none = h('p', { class: 'none' }, 'No rules yet, so nothing is delivered.');
  const more = h(
    'details',
    { class: 'more', id: 'add-rules' },
    h('summary', null, 'Forward to another receiver'),
    forwardForm(),
  );
  const policy = h('p', { class: 'hint policy' });
  setChildren(byId('panel-rules'), list, none, more, policy);
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
    setText(policy, store.policy ? policyText(store.policy) : '');
  });
}

const policyText = ({ maxAttempts, retryEvery, acknowledgeWithin }: PolicyView): string =>
  `A receiver must respond 2xx within ${span(acknowledgeWithin)}. Otherwise the delivery is retried about every ${span(retryEvery)}, ` +
  `up to ${String(maxAttempts)} attempts. A 404, or a failed last attempt, pauses the rule.`;

function ruleCard(rule: Rule, showOf: (rule: Rule) => void): KeyedRow<Rule> {
  const head = h('div', { class: 'card-head' });
  const why = h('p', { class: 'why' });
  const actions = h('ul', { class: 'actions' });
  const toggle = h('span', null);
  // These buttons stay while the rule changes: a click on one that is replaced meanwhile would be lost.
  const buttons = h(
    'div',
    { class: 'buttons' },
    toggle,
    linkButton('Deliveries', () => showOf(shown)),
    rule.kind === 'rule' && linkButton('Add URL', () => addAction(shown)),
    linkButton('Rename', () => renameRule(shown)),
    linkButton('Remove', () => removeRule(shown)),
  );
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
    (action) => actionRow(() => shown, action),
  );
  let shown = rule;
  let toggled: boolean | undefined;
  const update = (now: Rule) => {
    shown = now;
    const paused = now.state === 'paused';
    setAttribute(element, 'data-state', now.state);
    setChildren(head, h('h3', null, now.name), ruleState(paused));
    setChildren(why, ...reason(now));
    why.hidden = !paused;
    rows.render(now.actions);
    if (toggled === paused) return;
    toggled = paused;
    const had = toggle.contains(document.activeElement);
    setChildren(toggle, pauseButton(now));
    if (had) toggle.querySelector('button')?.focus();
  };
  update(rule);
  return { element, update };
}

function triggerOf({ trigger, kind, scope }: Rule): string {
  if (kind === 'recording-webhook') return `On ${trigger}`;
  return `On ${trigger}, ${scope === 'user' ? 'calls of the owner' : 'all calls'}`;
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
  const mailed = scope === 'workspace' ? 'The admins were emailed.' : 'The owner was emailed.';
  return [
    'Paused at ',
    clockTime(pausedAt),
    `: ${PAUSE_REASONS[pauseReason]}. `,
    pauseReason === 'by-hand' ? '' : mailed,
  ];
}

function pauseButton({ _id, state }: Rule): HTMLElement {
  if (state === 'paused')
    return actionButton({ label: 'Resume', icon: 'forward', class: 'button small primary' }, () =>
      callApi('POST', `/rules/${_id}/resume`),
    );
  return actionButton({ label: 'Pause', icon: 'pause', class: 'button small' }, () =>
    callApi('POST', `/rules/${_id}/pause`),
  );
}

function linkButton(label: string, run: () => void): HTMLElement {
  const button = h('button', { type: 'button', class: 'ghost small' }, label);
  button.addEventListener('click', run);
  return button;
}

function actionRow(rule: () => Rule, action: Action): KeyedRow<Action> {
  const url = h('code', { class: 'url' });
  const isRule = rule().kind === 'rule';
  const tools = h(
    'span',
    { class: 'tools' },
    linkButton('Edit', () => editAction(rule(), shown)),
    isRule && linkButton('Remove', () => removeAction(rule(), shown)),
  );
  const notes = h('p', { class: 'hint' });
  const secret = h('div', null);
  const element = h('li', null, h('div', { class: 'url-row' }, url, tools), notes, secret);
  let shown = action;
  let signed: boolean | undefined;
  const update = (now: Action) => {
    shown = now;
    setChildren(url, now.url);
    setAttribute(url, 'title', now.url);
    setChildren(notes, now.payload === undefined ? null : 'sends a custom payload');
    notes.hidden = now.payload === undefined;
    if (signed === now.signed) return;
    signed = now.signed;
    const unsigned = 'No secret: deliveries are not signed. Remove this action and add it again.';
    setChildren(
      secret,
      signed ? secretRow(rule()._id, now._id) : h('p', { class: 'hint' }, unsigned),
    );
  };
  update(action);
  return { element, update };
}
