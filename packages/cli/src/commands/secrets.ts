import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { simulatorUrl, withSimulatorOption } from '../simulator/address.ts';
import { connect } from '../simulator/connection.ts';
import type { Rule } from '../simulator/views.ts';
import { table } from '../terminal/table.ts';
import { t, type Shown } from '../terminal/text.ts';

interface Options {
  readonly simulator?: string;
  readonly showSecret?: boolean;
}
type Secrets = Record<string, { current: string; rotations: number } | null>;

export function secrets(app: App): Command {
  const command = app
    .command('secrets', 'Which actions of the simulator have a signing secret')
    .option('--show-secret', 'print the secrets, and nothing else: one a line, without repeats');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['secrets', 'Which there are, and how often they were rotated'],
        [
          'secrets --show-secret',
          'export CALL_WEBHOOK_SECRET=$(call-webhooks secrets --show-secret)',
        ],
      ),
    )
    .action(app.run((options: Options) => run(app, options)));
}

async function run(app: App, { simulator, showSecret = false }: Options): Promise<undefined> {
  const { io, output, signal } = app;
  const connection = connect(simulatorUrl(io, simulator), signal);
  const all = await connection.get<Secrets>('/secrets');
  const rows = (await connection.get<Rule[]>('/rules')).flatMap(({ _id, trigger, actions }) =>
    actions.map((action) => ({
      ruleId: _id,
      actionId: action._id,
      trigger,
      signed: all[action._id] !== null && all[action._id] !== undefined,
      rotations: all[action._id]?.rotations ?? 0,
      ...(showSecret && { secret: all[action._id]?.current ?? null }),
    })),
  );
  if (output.json) {
    for (const row of rows) await output.show(row, () => []);
  } else if (showSecret) {
    const known = Object.values(all).flatMap((secret) => (secret ? [secret.current] : []));
    for (const secret of new Set(known)) await output.show(secret, () => t`${secret}`);
  } else if (rows.length === 0) output.say('There are no rules, so there are no secrets.');
  else
    await output.show(rows, (ink) =>
      table(
        ink,
        ['rule', 'action', 'trigger', 'secret'],
        rows.map(({ ruleId, actionId, trigger, signed, rotations }): Shown[] => [
          ruleId,
          actionId,
          trigger,
          signed ? `whsec_… rotated ${rotations} times` : ink.yellow('none: sent unsigned'),
        ]),
      ),
    );
  return undefined;
}
