import type { ChaosSettings } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../errors.ts';
import { probabilities } from '../input/options.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type Connection,
  type SimulatorOptions,
} from '../simulator/connection.ts';
import { pairs } from '../terminal/table.ts';
import type { Printable } from '../terminal/text.ts';

/** `chaos`: makes the simulator inject faults. */
export function chaosCommand(app: App, base: Command): Command {
  const subcommand = (name: string, what: string, example = name) =>
    withSimulatorOption(app.command(name, what)).addHelpText(
      'after',
      examples([`chaos ${example}`, what]),
    );
  return base
    .addCommand(
      subcommand('show', 'Show all modes and their probabilities').action(
        app.action(async (options: SimulatorOptions) =>
          printChaos(app, await readChaos(simulatorOf(app, options))),
        ),
      ),
    )
    .addCommand(
      subcommand('set', 'Change some modes and keep the others', 'set duplicate=0.2 replay=50%')
        .argument('[mode=probability...]', 'such as duplicate=0.2 or replay=50%')
        .option('--all <probability>', 'set every mode')
        .action(
          app.action(async (given: string[], options: SimulatorOptions & { all?: string }) =>
            printChaos(app, await changeChaos(simulatorOf(app, options), given, options.all)),
          ),
        ),
    )
    .addCommand(
      subcommand('off', 'Turn all modes off').action(
        app.action(async (options: SimulatorOptions) =>
          printChaos(app, await simulatorOf(app, options).post('/chaos/clear')),
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

const readChaos = (connection: Connection) => connection.get<ChaosSettings>('/chaos');

async function changeChaos(connection: Connection, given: string[], all?: string) {
  if (given.length === 0 && all === undefined)
    throw badInput('No mode is given.', 'Example: call-webhooks chaos set duplicate=0.2');
  const modes = all === undefined ? [] : Object.keys(await readChaos(connection));
  return connection.patch<ChaosSettings>('/chaos', {
    ...probabilities(modes.map((mode) => `${mode}=${all ?? ''}`)),
    ...probabilities(given),
  });
}

async function printChaos({ output }: App, settings: ChaosSettings): Promise<undefined> {
  await output.print(settings, (colors) =>
    pairs(
      colors,
      Object.entries(settings).map(([mode, probability]): [string, Printable] => [
        mode,
        probability === 0 ? colors.dim('off') : colors.yellow(probability),
      ]),
    ),
  );
  return undefined;
}
