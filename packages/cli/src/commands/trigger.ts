import { Argument, type Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { closest } from '../input/closest.ts';
import { collected, milliseconds, wholeNumber } from '../input/numbers.ts';
import { withSimulatorOption } from '../simulator/address.ts';
import { select } from '../terminal/ask.ts';
import { pairs } from '../terminal/table.ts';
import { SCENARIOS, type Scenario } from '../triggering/scenarios.ts';
import { trigger as run, type TriggerOptions } from '../triggering/trigger.ts';

const TABLE = Object.entries(SCENARIOS);

export function trigger(app: App): Command {
  const command = app
    .command('trigger', 'Make something happen in the running simulator')
    .addArgument(new Argument('[event|scenario]', 'what; --list shows all'))
    .option('--list', 'show what can be triggered')
    .option('--set <path=json>', 'a field of the call or message; repeatable', collected)
    .option(
      '-n, --count <number>',
      'how often; for `burst`: how many calls',
      wholeNumber('--count', 1, 10_000),
    )
    .option('-w, --wait', 'wait for the answers: exit code 1 when the receiver failed')
    .option('--retries', 'with --wait: retries too, until all is acknowledged or given up')
    .option('--timeout <duration>', 'the longest wait without --retries', milliseconds, 60_000);
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['trigger call --wait', 'A whole call, and how your receiver took it'],
        ['trigger call:completed --set calledName="Ada Lovelace"', 'One event, with a name'],
        ['trigger call:started --set calledEmail=null -n 5', 'Five, without an e-mail address'],
        ['trigger burst --wait --retries', '20 calls at once, until the last is acknowledged'],
      ),
    )
    .action(
      app.run(async (given: string | undefined, options: TriggerOptions & { list?: boolean }) => {
        if (options.list) return list(app);
        const name = given ?? (await asked(app));
        const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
        if (!scenario) throw unknown(name);
        return run(app, name, scenario, options);
      }),
    );
}

async function list({ output }: App): Promise<undefined> {
  if (!output.json)
    for (const line of pairs(
      output.ink,
      TABLE.map(([name, { what }]) => [name, what]),
    ))
      await output.show(undefined, () => line);
  else
    for (const [name, { what, count }] of TABLE) await output.show({ name, what, count }, () => []);
  return undefined;
}

async function asked(app: App): Promise<string> {
  if (!app.interactive)
    throw badInput('What is to be triggered?', 'See: call-webhooks trigger --list');
  return select(
    app,
    'What is to happen?',
    TABLE.map(([value, { what }]: [string, Scenario]) => ({ value, label: value, hint: what })),
  );
}

function unknown(name: string) {
  const near = closest(name, Object.keys(SCENARIOS));
  return badInput(
    `There is no event or scenario ${name}.`,
    near === undefined ? 'See: call-webhooks trigger --list' : `Did you mean ${near}?`,
  );
}
