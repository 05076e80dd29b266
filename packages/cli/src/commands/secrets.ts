import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../simulator/connection.ts';
import { shortUrl } from '../simulator/attempt-lines.ts';
import { table } from '../terminal/table.ts';
import { t, type Printable } from '../terminal/text.ts';

interface Options extends SimulatorOptions {
  readonly showSecret?: boolean;
}
type Secrets = Record<string, { current: string; rotations: number } | null>;

/** `secrets`: the signing secrets of the simulator. */
export function secretsCommand(app: App, base: Command): Command {
  const command = base.option('--show-secret', 'print only the secrets, one per line');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['secrets', 'Which actions are signed, and how often their secrets were rotated'],
        [
          'secrets --show-secret',
          'export CALL_WEBHOOK_SECRET=$(call-webhooks secrets --show-secret)',
        ],
      ),
    )
    .action(app.action((options: Options) => printSecrets(app, options)));
}

async function printSecrets(app: App, options: Options): Promise<undefined> {
  const { output } = app;
  const { showSecret = false } = options;
  const connection = simulatorOf(app, options);
  const secrets = await connection.get<Secrets>('/secrets');
  const rows = (await connection.get<Rule[]>('/rules')).flatMap(({ _id, trigger, actions }) =>
    actions.map((action) => {
      const secret = secrets[action._id] ?? null;
      return {
        ruleId: _id,
        actionId: action._id,
        url: action.url,
        trigger,
        signed: secret !== null,
        rotations: secret?.rotations ?? 0,
        ...(showSecret && { secret: secret?.current ?? null }),
      };
    }),
  );
  if (output.json) {
    for (const row of rows) await output.print(row);
  } else if (showSecret) {
    const known = Object.values(secrets).flatMap((secret) => (secret ? [secret.current] : []));
    for (const secret of new Set(known)) await output.print(secret, () => t`${secret}`);
  } else if (rows.length === 0) output.message('There are no rules, so there are no secrets.');
  else
    await output.print(rows, (colors) =>
      table(
        colors,
        [
          { title: 'event' },
          { title: 'action', cut: 'id' },
          { title: 'secret' },
          { title: 'receiver', cut: 'middle', min: 12 },
        ],
        rows.map(({ actionId, trigger, signed, rotations, url }): Printable[] => [
          trigger,
          actionId,
          signed
            ? `whsec_…${rotations > 0 ? `, rotated ${times(rotations)}` : ''}`
            : colors.yellow('none (unsigned)'),
          shortUrl(url),
        ]),
        output.columns,
      ),
    );
  return undefined;
}

const times = (count: number): string => (count === 1 ? 'once' : `${String(count)} times`);
