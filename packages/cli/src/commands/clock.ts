import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { milliseconds } from '../input/numbers.ts';
import { simulatorUrl, withSimulatorOption } from '../simulator/address.ts';
import { connect, type Connection } from '../simulator/connection.ts';
import type { ClockView } from '../simulator/views.ts';
import { t } from '../terminal/text.ts';
import { duration } from '../terminal/time.ts';

type Turn = (connection: Connection) => Promise<ClockView>;

export function clock(app: App): Command {
  const command = (name: string, what: string, example = name) =>
    withSimulatorOption(app.command(name, what)).addHelpText(
      'after',
      examples([`clock ${example}`, what]),
    );
  const turn = (work: Turn) => app.run((options: Options) => turned(app, options, work));
  return app
    .command('clock', "The simulator's time: retries and pauses without waiting")
    .addCommand(
      command('show', 'What time it is, and what is due next').action(
        turn((connection) => connection.get('/clock')),
      ),
    )
    .addCommand(
      command('advance', 'Turn it ahead, and do on the way all that falls due', 'advance 5m')
        .argument('<duration>', 'such as 30s, 5m or 2h', milliseconds)
        .action(
          app.run((by: number, options: Options) =>
            turned(app, options, (connection) => connection.post('/clock/advance', { by })),
          ),
        ),
    )
    .addCommand(
      command('next', 'Turn it to the next thing that is due').action(
        turn((connection) => connection.post('/clock/next')),
      ),
    )
    .addCommand(
      command('run', 'Turn it until nothing is left to do').action(
        turn((connection) => connection.post('/clock/run-until-idle')),
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['clock advance 5m', 'Failed deliveries are retried now'],
        ['clock run', 'Until every delivery is acknowledged or given up'],
      ),
    );
}

interface Options {
  readonly simulator?: string;
}

async function turned(app: App, { simulator }: Options, work: Turn): Promise<undefined> {
  const { io, output, signal } = app;
  const now = await work(connect(simulatorUrl(io, simulator), signal));
  await output.show(now, (ink) => {
    const due =
      now.nextDueAt === null
        ? 'nothing is due'
        : `next is due in ${duration(Math.max(0, now.nextDueAt - now.now))}`;
    const flying = now.inFlight > 0 ? `, ${now.inFlight} in flight` : '';
    return t`${ink.bold(new Date(now.now).toISOString())}  ${now.mode}  ${ink.dim(due + flying)}`;
  });
  return undefined;
}
