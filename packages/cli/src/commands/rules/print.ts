import type { Action, Rule } from '@call-webhooks/simulator';
import type { App } from '../../app.ts';
import type { Connection } from '../../simulator/connection.ts';
import { shortUrl } from '../../simulator/attempt-lines.ts';
import type { Colors } from '../../terminal/colors.ts';
import { table, type Column } from '../../terminal/table.ts';
import { t, type Printable } from '../../terminal/text.ts';

const COLUMNS: readonly Column[] = [
  { title: 'rule', cut: 'id' },
  { title: 'event', cut: 'middle', min: 20 },
  { title: 'state' },
  { title: 'action', cut: 'id' },
  { title: 'receiver', cut: 'middle', min: 15 },
  { title: 'name', cut: 'end', min: 12, drop: 1 },
];

/** Prints rules, one row for each action. */
export async function printRules({ output }: App, rules: readonly Rule[]): Promise<undefined> {
  if (output.json) for (const rule of rules) await output.print(rule);
  else if (rules.length === 0)
    output.message('There are no rules. Create them: call-webhooks rules create --url URL');
  else
    await output.print(rules, (colors) =>
      table(
        colors,
        COLUMNS,
        rules.flatMap((rule) => rowsOf(colors, rule)),
        output.columns,
      ),
    );
  return undefined;
}

function rowsOf({ green, red, yellow }: Colors, rule: Rule): Printable[][] {
  const { _id, name, trigger, scope, ownerId, state, pauseReason = 'by-hand', actions } = rule;
  const stateText = state === 'active' ? green(state) : red(`paused: ${PAUSED[pauseReason]}`);
  const whole = scope === 'user' ? `${name} (user ${ownerId})` : name;
  if (actions.length === 0) return [[_id, trigger, stateText, '', yellow('no action'), whole]];
  return actions.map((action) => [
    _id,
    trigger,
    stateText,
    action._id,
    action.signed ? shortUrl(action.url) : t`${shortUrl(action.url)} ${yellow('unsigned')}`,
    whole,
  ]);
}

const PAUSED: Readonly<Record<NonNullable<Rule['pauseReason']>, string>> = {
  'answered-404': '404',
  'last-attempt-failed': 'failed',
  'by-hand': 'by hand',
};

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
