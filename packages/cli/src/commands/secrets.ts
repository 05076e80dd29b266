import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { shortUrl } from '../simulator/attempt-lines.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../simulator/connection.ts';
import { signingActions, type SecretsView, type SigningAction } from '../simulator/secrets.ts';
import type { Colors } from '../terminal/colors.ts';
import { table, type Column } from '../terminal/table.ts';
import { t, type Printable } from '../terminal/text.ts';

interface Options extends SimulatorOptions {
  readonly showSecret?: boolean;
}

/** `secrets`: the signing secrets of the simulator. */
export function secretsCommand(app: App, base: Command): Command {
  const list = app
    .command('list', 'List all actions with their rules and secrets')
    .option('--show-secret', 'print only the secrets, one per line');
  withSimulatorOption(list)
    .addHelpText(
      'after',
      examples(
        ['secrets list', 'Which actions are signed, and how often their secrets were rotated'],
        [
          'secrets list --show-secret',
          'export CALL_WEBHOOK_SECRET="$(call-webhooks secrets list --show-secret)"',
        ],
      ),
    )
    .action(app.action((options: Options) => printSecrets(app, options)));
  // `secrets` alone lists them, too.
  return base
    .addCommand(list, { isDefault: true })
    .addHelpText('after', examples(['secrets list', 'The secret of each action']));
}

const COLUMNS: readonly Column[] = [
  { title: 'rule', cut: 'id' },
  { title: 'event' },
  { title: 'action', cut: 'id' },
  { title: 'secret' },
  { title: 'receiver', cut: 'middle', min: 12, drop: 1 },
  { title: 'name', cut: 'end', min: 12, drop: 2 },
];

async function printSecrets(app: App, options: Options): Promise<undefined> {
  const { output } = app;
  const { showSecret = false } = options;
  const connection = simulatorOf(app, options);
  const actions = signingActions(
    await connection.get<Rule[]>('/rules'),
    await connection.get<SecretsView>('/secrets'),
  );
  if (output.json) {
    for (const { secret, ...action } of actions)
      await output.print({ ...action, signed: secret !== null, ...(showSecret && { secret }) });
  } else if (showSecret) {
    const known = actions.flatMap(({ secret }) => secret ?? []);
    for (const secret of new Set(known)) await output.print(secret, () => t`${secret}`);
  } else if (actions.length === 0) output.message('There are no rules, so there are no secrets.');
  else
    await output.print(actions, (colors) =>
      table(
        colors,
        COLUMNS,
        actions.map((action) => rowOf(colors, action)),
        output.columns,
      ),
    );
  return undefined;
}

function rowOf(
  { yellow }: Colors,
  { ruleId, trigger, actionId, secret, rotations, url, rule }: SigningAction,
): Printable[] {
  const rotated = rotations > 0 ? `, rotated ${times(rotations)}` : '';
  const shown = secret === null ? yellow('none (unsigned)') : `whsec_…${rotated}`;
  return [ruleId, trigger, actionId, shown, shortUrl(url), rule];
}

const times = (count: number): string => (count === 1 ? 'once' : `${String(count)} times`);
