import type { ChaosSettings, ClockView } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { milliseconds, probabilities } from '../input/options.ts';
import {
  type Connection,
  simulatorOf,
  type SimulatorOptions,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { dateTime, duration } from '../terminal/format.ts';
import { pairs } from '../terminal/table.ts';
import { type Printable, t } from '../terminal/text.ts';

type ClockRequest = (connection: Connection) => Promise<ClockView>;

/** `clock`: shows and advances the simulator's clock. */
export function clockCommand(app: App, base: Command): Command {
  const subcommand = (name: string, what: string, example = name) =>
    withSimulatorOption(app.command(name, what)).addHelpText(
      'after',
      examples([`clock ${example}`, what]),
    );
  const action = (request: ClockRequest) =>
    app.action((options: SimulatorOptions) => printClock(app, options, request));
  return base
    .addCommand(
      subcommand('show', 'Show the time and when something is due next').action(
        action((connection) => connection.get('/clock')),
      ),
      { isDefault: true },
    )
    .addCommand(
      subcommand('advance', 'Advance the clock and run what falls due', 'advance 6m')
        .argument('<duration>', 'such as 30s, 5m or 2h', milliseconds)
        .action(
          app.action((by: number, options: SimulatorOptions) =>
            printClock(app, options, (connection) => connection.post('/clock/advance', { by })),
          ),
        ),
    )
    .addCommand(
      subcommand('next', 'Advance the clock to the next thing that is due').action(
        action((connection) => connection.post('/clock/next')),
      ),
    )
    .addCommand(
      subcommand('run', 'Advance the clock until nothing is due').action(
        action((connection) => connection.post('/clock/run-until-idle')),
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['clock advance 6m', 'Retry failed deliveries now'],
        ['clock run', 'Until every delivery has succeeded or failed for good'],
      ),
    );
}

async function printClock(
  app: App,
  options: SimulatorOptions,
  request: ClockRequest,
): Promise<undefined> {
  const clock = await request(simulatorOf(app, options));
  await app.output.print(clock, ({ bold, dim }) => {
    const due =
      clock.nextDueAt === null
        ? 'nothing is due'
        : `next in ${duration(Math.max(0, clock.nextDueAt - clock.now))}`;
    const inFlight = clock.inFlight > 0 ? `, ${clock.inFlight} in flight` : '';
    return t`${bold(dateTime(new Date(clock.now)))}  ${clock.mode}  ${dim(due + inFlight)}`;
  });
  return undefined;
}

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
      { isDefault: true },
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
