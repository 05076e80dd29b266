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

/** `clock`: shows and advances the simulator's clock. */
export function clockCommand(app: App, base: Command): Command {
  const command = (name: string, what: string) => withSimulatorOption(app.command(name, what));
  const post = (path: string) =>
    app.action((options: SimulatorOptions) =>
      printClock(app, simulatorOf(app, options).post(`/clock/${path}`)),
    );
  return base
    .addCommand(
      command('show', 'Show the time and when something is due next').action(
        app.action((options: SimulatorOptions) =>
          printClock(app, simulatorOf(app, options).get('/clock')),
        ),
      ),
      { isDefault: true },
    )
    .addCommand(
      command('advance', 'Advance the clock and run what falls due')
        .argument('<duration>', 'such as 30s, 5m or 2h', milliseconds)
        .action(
          app.action((by: number, options: SimulatorOptions) =>
            printClock(app, simulatorOf(app, options).post('/clock/advance', { by })),
          ),
        ),
    )
    .addCommand(
      command('next', 'Advance the clock to the next thing that is due').action(post('next')),
    )
    .addCommand(
      command('run', 'Advance the clock until nothing is due').action(post('run-until-idle')),
    )
    .addHelpText(
      'afterAll',
      examples(
        ['clock advance 6m', 'Retry failed deliveries now'],
        ['clock run', 'Until every delivery has succeeded or failed for good'],
      ),
    );
}

async function printClock({ output }: App, reading: Promise<ClockView>): Promise<undefined> {
  const clock = await reading;
  await output.print(clock, ({ bold, dim }) => {
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
  const command = (name: string, what: string) => withSimulatorOption(app.command(name, what));
  return base
    .addCommand(
      command('show', 'Show all modes and their probabilities').action(
        app.action((options: SimulatorOptions) =>
          printChaos(app, simulatorOf(app, options).get('/chaos')),
        ),
      ),
      { isDefault: true },
    )
    .addCommand(
      command('set', 'Change some modes and keep the others')
        .argument('[mode=probability...]', 'such as duplicate=0.2 or replay=50%')
        .option('--all <probability>', 'set every mode')
        .action(
          app.action((given: string[], options: SimulatorOptions & { all?: string }) =>
            printChaos(app, changeChaos(simulatorOf(app, options), given, options.all)),
          ),
        ),
    )
    .addCommand(
      command('off', 'Turn all modes off').action(
        app.action((options: SimulatorOptions) =>
          printChaos(app, simulatorOf(app, options).post('/chaos/clear')),
        ),
      ),
    )
    .addHelpText(
      'afterAll',
      examples(
        ['chaos set duplicate=0.3 reorder=0.3', 'Duplicates, out of order'],
        ['chaos set --all 0.1', 'A bit of everything'],
      ),
    );
}

async function changeChaos(connection: Connection, given: string[], all?: string) {
  if (given.length === 0 && all === undefined)
    throw badInput('No mode is given.', 'Example: call-webhooks chaos set duplicate=0.2');
  const modes = all === undefined ? [] : Object.keys(await connection.get<object>('/chaos'));
  return connection.patch<ChaosSettings>('/chaos', {
    ...probabilities(modes.map((mode) => `${mode}=${all ?? ''}`)),
    ...probabilities(given),
  });
}

async function printChaos({ output }: App, reading: Promise<ChaosSettings>): Promise<undefined> {
  const settings = await reading;
  await output.print(settings, (colors) => {
    const rows = Object.entries(settings).map(([mode, probability]): [string, Printable] => [
      mode,
      probability === 0 ? colors.dim('off') : colors.yellow(probability),
    ]);
    return pairs(colors, rows);
  });
  return undefined;
}
