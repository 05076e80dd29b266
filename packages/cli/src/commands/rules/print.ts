import type { Rule } from '@call-webhooks/simulator';
import type { App } from '../../app.ts';
import type { Colors } from '../../terminal/colors.ts';
import { pad, t, type Text } from '../../terminal/text.ts';

const WIDEST_TRIGGER = 'call:recording-available'.length;

/** Prints rules with their actions. */
export async function printRules({ output }: App, rules: readonly Rule[]): Promise<undefined> {
  if (rules.length === 0 && !output.json)
    output.message('There are no rules. Create them: call-webhooks rules create --url URL');
  for (const rule of rules) await output.print(rule, (colors) => ruleLines(colors, rule));
  return undefined;
}

function ruleLines({ bold, dim, green, red, yellow }: Colors, rule: Rule): Text[] {
  const { _id, trigger, state, pauseReason, actions } = rule;
  const stateText = state === 'active' ? green(state) : red(`paused: ${pauseReason ?? 'by hand'}`);
  return [
    t`${bold(pad(trigger, WIDEST_TRIGGER))}  ${stateText}`,
    t`  ${dim('rule  ')} ${_id}`,
    ...actions.map(
      (action) =>
        t`  ${dim('action')} ${action._id}  ${action.url}${action.signed ? '' : yellow('  unsigned')}`,
    ),
  ];
}
