import { fill, h, part } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { Rule } from '@call-webhooks/simulator/control-api';
import { ask } from '../live/ask.ts';
import type { Store } from '../model/store.ts';
import { PAUSED } from '../model/words.ts';
import { actionButton } from '../parts/action-button.ts';
import { warn } from '../parts/notices.ts';

/** Says above the timeline which rules are paused, and why; and warns when the service pauses one. */
export function pausedBanner(store: Store): void {
  const banner = part('paused');
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
        warn(`The rule “${rule.name}” was paused: ${PAUSED[rule.pauseReason]}.`);
    known = new Map(rules.map((rule) => [rule._id, rule]));
    const paused = rules.filter(({ state }) => state === 'paused');
    const key = JSON.stringify(paused);
    if (key === shown) return;
    shown = key;
    banner.hidden = paused.length === 0;
    fill(banner, paused.length > 0 && content(paused, store));
  });
}

function content(paused: readonly Rule[], store: Store): (Node | string)[] {
  const [only] = paused;
  const one = paused.length === 1 && only;
  const text = one
    ? `“${one.name}” is paused, because ${PAUSED[one.pauseReason ?? 'by-hand']}.`
    : `${String(paused.length)} rules are paused.`;
  const then =
    store.policy?.whilePaused === 'hold'
      ? 'Its events are held until it is resumed.'
      : 'Its events are dropped until it is resumed.';
  const resume = actionButton(
    { label: one ? 'Resume' : 'Resume all', icon: 'forward', class: 'button small' },
    () => Promise.all(paused.map(({ _id }) => ask('POST', `/rules/${_id}/resume`))),
  );
  return [icon('pause'), h('p', null, text, ' ', one ? then : ''), resume];
}
