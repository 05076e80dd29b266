import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import { createCommand } from './create.ts';
import { printRules } from './print.ts';

/** `rules`: manages the rules of the simulator. */
export function rulesCommand(app: App): Command {
  return app
    .command('rules', 'Manage the rules of the simulator')
    .addCommand(listCommand(app))
    .addCommand(createCommand(app))
    .addCommand(stateCommand(app, 'pause', 'Pause a rule, as the service does after a 404'))
    .addCommand(stateCommand(app, 'resume', 'Resume a paused rule'))
    .addHelpText(
      'after',
      examples(
        ['rules create --url http://127.0.0.1:3000/hook', 'Send all three events to one receiver'],
        ['rules list', 'Which rules are paused, and why'],
      ),
    );
}

function listCommand(app: App): Command {
  return withSimulatorOption(app.command('list', 'List all rules with their actions'))
    .addHelpText('after', examples(['rules list', 'Which rules are paused, and why']))
    .action(
      app.action(async (options: SimulatorOptions) =>
        printRules(app, await simulatorOf(app, options).get<Rule[]>('/rules')),
      ),
    );
}

function stateCommand(app: App, verb: 'pause' | 'resume', what: string): Command {
  return withSimulatorOption(app.command(verb, what).argument('<id>', 'the id of the rule'))
    .addHelpText('after', examples([`rules ${verb} 5f02…`, what]))
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const path = `/rules/${encodeURIComponent(id)}/${verb}`;
        return printRules(app, [await simulatorOf(app, options).post<Rule>(path)]);
      }),
    );
}
