import type { Action, Rule } from '@call-webhooks/simulator';
import type { App } from '../../app.ts';
import type { Connection } from '../../simulator/connection.ts';
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
  const { _id, name, trigger, scope, ownerId, state, pauseReason, actions } = rule;
  const stateText = state === 'active' ? green(state) : red(`paused: ${pauseReason ?? 'by hand'}`);
  return [
    t`${bold(pad(trigger, WIDEST_TRIGGER))}  ${stateText}`,
    t`  ${dim('rule  ')} ${_id}  ${name}${scope === 'user' ? dim(`  user ${ownerId}`) : ''}`,
    ...actions.map(
      (action) =>
        t`  ${dim('action')} ${action._id}  ${action.url}${action.signed ? '' : yellow('  unsigned')}`,
    ),
  ];
}

/** Prints the signing secrets of actions. */
export async function printSecrets(
  { output }: App,
  connection: Connection,
  actions: readonly Pick<Action, '_id'>[],
): Promise<void> {
  const secrets = await connection.get<Record<string, { current: string } | null>>('/secrets');
  for (const { _id } of actions) {
    const secret = secrets[_id]?.current ?? null;
    await output.print(
      { actionId: _id, secret },
      ({ bold }) => t`${_id}  ${bold(secret ?? 'no secret')}`,
    );
  }
}
