import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { probabilities } from '../input/chaos.ts';
import { simulatorUrl, withSimulatorOption } from '../simulator/address.ts';
import { connect, type Connection } from '../simulator/connection.ts';
import type { ChaosSettings } from '../simulator/views.ts';
import { pairs } from '../terminal/table.ts';
import type { Shown } from '../terminal/text.ts';

interface Options {
  readonly simulator?: string;
}

const connected = ({ io, signal }: App, { simulator }: Options) =>
  connect(simulatorUrl(io, simulator), signal);

export function chaos(app: App): Command {
  const command = (name: string, what: string, example = name) =>
    withSimulatorOption(app.command(name, what)).addHelpText(
      'after',
      examples([`chaos ${example}`, what]),
    );
  return app
    .command('chaos', 'What goes wrong on purpose, and how often')
    .addCommand(
      command('show', 'The modes and their probabilities').action(
        app.run(async (options: Options) => told(app, await current(connected(app, options)))),
      ),
    )
    .addCommand(
      command('set', 'Change some modes, and leave the others', 'set duplicate=0.2 replay=50%')
        .argument('[mode=probability...]', 'such as duplicate=0.2 or replay=50%')
        .option('--all <probability>', 'every mode')
        .action(
          app.run(async (given: string[], options: Options & { all?: string }) =>
            told(app, await change(connected(app, options), given, options.all)),
          ),
        ),
    )
    .addCommand(
      command('off', 'Switch everything off').action(
        app.run(async (options: Options) =>
          told(app, await connected(app, options).post('/chaos/clear')),
        ),
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['chaos set duplicate=0.3 reorder=0.3', 'Duplicates, out of order'],
        ['chaos set --all 0.1', 'A bit of everything'],
      ),
    );
}

const current = (connection: Connection) => connection.get<ChaosSettings>('/chaos');

async function change(connection: Connection, given: string[], all?: string) {
  if (given.length === 0 && all === undefined)
    throw badInput('What is to change?', 'Like this: call-webhooks chaos set duplicate=0.2');
  const modes = all === undefined ? [] : Object.keys(await current(connection));
  return connection.patch<ChaosSettings>('/chaos', {
    ...probabilities(modes.map((mode) => `${mode}=${all ?? ''}`)),
    ...probabilities(given),
  });
}

async function told({ output }: App, settings: ChaosSettings): Promise<undefined> {
  await output.show(settings, (ink) =>
    pairs(
      ink,
      Object.entries(settings).map(([mode, probability]): [string, Shown] => [
        mode,
        probability === 0 ? ink.dim('off') : ink.yellow(probability),
      ]),
    ),
  );
  return undefined;
}
