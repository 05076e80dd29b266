import type { ClockView } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { milliseconds } from '../input/options.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type Connection,
  type SimulatorOptions,
} from '../simulator/connection.ts';
import { dateTime, duration } from '../terminal/format.ts';
import { t } from '../terminal/text.ts';

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
