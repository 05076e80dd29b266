import { Argument, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { didYouMean } from '../../input/did-you-mean.ts';
import { durationOption, repeatable, wholeNumber } from '../../input/options.ts';
import { withSimulatorOption } from '../../simulator/connection.ts';
import { pairs } from '../../terminal/table.ts';
import { askChoice } from '../../terminal/prompts.ts';
import { runScenario, type TriggerOptions } from './run-scenario.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const ENTRIES = Object.entries(SCENARIOS);
const SEE_LIST = 'List them: call-webhooks trigger --list';

/** `trigger`: makes something happen in the simulator. */
export function triggerCommand(app: App, base: Command): Command {
  const command = base
    .addArgument(new Argument('[event|scenario]', 'see --list'))
    .option('--list', 'list all events and scenarios')
    .option('--set <path=json>', 'set a field of the call or message; repeatable', repeatable)
    .option(
      '-n, --count <number>',
      'how many times; for `burst`: how many calls',
      wholeNumber('--count', 1, 10_000),
    )
    .option('-w, --wait', 'wait for the responses; exit code 1 if the receiver fails')
    .option('--retries', 'with --wait: wait until all deliveries have succeeded or failed for good')
    .addOption(
      durationOption('--timeout <duration>', 'the longest wait without --retries', 60_000),
    );
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['trigger call --wait', 'Place a call and see how your receiver responds'],
        ['trigger call:completed --set calledName="Ada Lovelace"', 'One event with this name'],
        ['trigger call:started --set calledEmail=null -n 5', 'Five calls without an email address'],
        ['trigger burst --wait --retries', '20 calls at once, until all have succeeded'],
      ),
    )
    .action(
      app.action(
        async (given: string | undefined, options: TriggerOptions & { list?: boolean }) => {
          if (options.list) return list(app);
          const name = given ?? (await askForScenario(app));
          const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
          if (!scenario)
            throw badInput(
              `There is no event or scenario ${name}.`,
              didYouMean(name, Object.keys(SCENARIOS), SEE_LIST),
            );
          return runScenario(app, name, scenario, options);
        },
      ),
    );
}

async function list({ output }: App): Promise<undefined> {
  if (output.json)
    for (const [name, { what, count }] of ENTRIES) await output.print({ name, what, count });
  else
    await output.print(undefined, (colors) =>
      pairs(
        colors,
        ENTRIES.map(([name, { what }]) => [name, what]),
        output.columns,
      ),
    );
  return undefined;
}

async function askForScenario(app: App): Promise<string> {
  if (!app.interactive) throw badInput('The event or scenario is missing.', SEE_LIST);
  const choices = ENTRIES.map(([value, { what }]: [string, Scenario]) => ({
    value,
    label: value,
    hint: what,
  }));
  return askChoice(app, 'What do you want to trigger?', choices);
}
