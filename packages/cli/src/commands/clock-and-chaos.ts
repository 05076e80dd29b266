import type { ChaosSettings, ClockView } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { probabilities } from '../input/options.ts';
import { milliseconds } from '../input/time.ts';
import { attemptWriter } from '../simulator/attempt-lines.ts';
import { acknowledgedOf, type Advanced, advanceClock } from '../simulator/clock.ts';
import {
  type Connection,
  simulatorOf,
  type SimulatorOptions,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { dateTime, duration } from '../terminal/format.ts';
import { pairs } from '../terminal/table.ts';
import { type Colors, type Printable, t, type Text } from '../terminal/text.ts';

/** `clock`: shows and advances the simulator's clock. */
export function clockCommand(app: App, base: Command): Command {
  const command = (name: string, what: string) => withSimulatorOption(app.command(name, what));
  const advance = (path: 'next' | 'run-until-idle') =>
    app.action((options: SimulatorOptions) =>
      printAdvanced(app, advanceClock(simulatorOf(app, options), path)),
    );
  return base
    .addCommand(
      command('show', 'Show the time, and when the next action is due').action(
        app.action((options: SimulatorOptions) =>
          printClock(app, simulatorOf(app, options).get('/clock')),
        ),
      ),
      { isDefault: true },
    )
    .addCommand(
      command('advance', 'Advance the clock, and run everything that becomes due')
        .argument('<duration>', 'such as 30s, 5m or 2h', milliseconds)
        .action(
          app.action((by: number, options: SimulatorOptions) =>
            printAdvanced(app, advanceClock(simulatorOf(app, options), 'advance', { by })),
          ),
        ),
    )
    .addCommand(
      command('next', 'Advance the clock to the time at which the next action is due').action(
        advance('next'),
      ),
    )
    .addCommand(
      command('run', 'Advance the clock until nothing is due').action(advance('run-until-idle')),
    )
    .addHelpText(
      'afterAll',
      examples(
        ['clock advance 6m', 'Retry failed events now'],
        ['clock run', 'Advance until every event has succeeded or failed for good'],
      ),
    );
}

async function printClock({ output }: App, reading: Promise<ClockView>): Promise<undefined> {
  const clock = await reading;
  await output.print(clock, (colors) => clockLine(colors, clock, 'nothing is due'));
  return undefined;
}

function clockLine({ bold, dim }: Colors, clock: ClockView, ifNone: string): Text {
  const { now, mode, nextDueAt, inFlight } = clock;
  const due = nextDueAt === null ? ifNone : `next in ${duration(Math.max(0, nextDueAt - now))}`;
  const more = inFlight > 0 ? `, ${String(inFlight)} in flight` : '';
  return t`${bold(dateTime(new Date(now)))}  ${mode}  ${dim(due + more)}`;
}

/** More attempts are only counted. */
const SHOWN = 50;

/** Prints what ran while the clock was advanced, and what is due next. */
async function printAdvanced({ output }: App, advancing: Promise<Advanced>): Promise<undefined> {
  const { clock, ended } = await advancing;
  const acknowledged = acknowledgedOf(ended);
  const attempts = { ended: ended.length, acknowledged };
  const attemptLines = attemptWriter(output.columns);
  await output.print({ ...clock, attempts }, (colors) => [
    ...ended.slice(-SHOWN).flatMap(({ event, attempt }) => attemptLines(colors, event, attempt)),
    ended.length === 1
      ? t`1 attempt ended, ${acknowledged === 1 ? 'acknowledged' : 'not acknowledged'}.`
      : t`${ended.length} attempts ended, ${acknowledged} acknowledged.`,
    clockLine(colors, clock, 'nothing more is due'),
  ]);
  if (ended.length > SHOWN)
    output.message(`These are the last ${String(SHOWN)}. For all: npx call-webhooks events list`);
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
        ['chaos set duplicate=0.3 reorder=0.3', 'Send duplicates, and change the order'],
        ['chaos set --all 0.1', 'Inject a few faults of every mode'],
      ),
    );
}

async function changeChaos(connection: Connection, given: string[], all?: string) {
  if (given.length === 0 && all === undefined)
    throw badInput('No mode is given.', 'Example: npx call-webhooks chaos set duplicate=0.2');
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
