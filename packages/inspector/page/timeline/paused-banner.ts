import { setChildren, h, byId } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { Rule } from '@call-webhooks/simulator/control-api';
import { callApi } from '../live/api.ts';
import { shortUrl, urlsOf } from '../model/receiver.ts';
import type { Store } from '../model/store.ts';
import { PAUSE_REASONS } from '../model/labels.ts';
import { actionButton } from '../components/action-button.ts';
import { notifyError } from '../components/notices.ts';

/** Shows the paused rules above the timeline, and reports when the service pauses one. */
export function pausedBanner(store: Store): void {
  const banner = byId('paused');
  let known: ReadonlyMap<string, Rule> | undefined;
  let shown = '';
  store.subscribe(() => {
    if (!store.policy) return;
    const rules = store.rules();
    for (const rule of rules)
      if (
        known?.get(rule._id)?.state === 'active' &&
        rule.pauseReason &&
        rule.pauseReason !== 'by-hand'
      )
        notifyError(`The rule ${nameOf(rule)} was paused: ${PAUSE_REASONS[rule.pauseReason]}.`);
    known = new Map(rules.map((rule) => [rule._id, rule]));
    const paused = rules.filter(({ state }) => state === 'paused');
    const key = JSON.stringify(paused);
    if (key === shown) return;
    shown = key;
    banner.hidden = paused.length === 0;
    setChildren(banner, paused.length > 0 && content(paused, store));
  });
}

/** A rule and where it sends to. */
const nameOf = ({ name, actions }: Rule): string =>
  [
    `“${name}”`,
    ...(actions.length > 0 ? ['to', urlsOf(actions).map(shortUrl).join(', ')] : []),
  ].join(' ');

function content(paused: readonly Rule[], store: Store): (Node | string)[] {
  const [only] = paused;
  const one = paused.length === 1 && only;
  const text = one
    ? `${nameOf(one)} is paused: ${PAUSE_REASONS[one.pauseReason ?? 'by-hand']}.`
    : `${String(paused.length)} rules are paused.`;
  const then =
    store.policy?.whilePaused === 'hold'
      ? 'Its events are held until you resume it.'
      : 'Its events are dropped until you resume it.';
  const resume = actionButton(
    { label: one ? 'Resume' : 'Resume all', icon: 'forward', class: 'button small' },
    () => Promise.all(paused.map(({ _id }) => callApi('POST', `/rules/${_id}/resume`))),
  );
  return [icon('pause'), h('p', null, text, ' ', one ? then : ''), resume];
}
