import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import { addActionCommand, removeActionCommand, updateActionCommand } from './actions.ts';
import { createCommand } from './create.ts';
import { findRule } from './find.ts';
import { printRules } from './print.ts';
import { removeCommand, updateCommand } from './update.ts';

/** `rules`: manages the rules of the simulator. */
export function rulesCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app))
    .addCommand(createCommand(app))
    .addCommand(updateCommand(app))
    .addCommand(removeCommand(app))
    .addCommand(stateCommand(app, 'pause', 'Pause a rule, as the service does after a 404'))
    .addCommand(stateCommand(app, 'resume', 'Resume a paused rule'))
    .addCommand(addActionCommand(app))
    .addCommand(updateActionCommand(app))
    .addCommand(removeActionCommand(app))
    .addHelpText(
      'after',
      `
Ids may be shortened to their first characters.
${examples(
  ['rules create --url http://127.0.0.1:3000/hook', 'Send all three events to one receiver'],
  ['rules list', 'Which rules are paused, and why'],
)}`,
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
  return withSimulatorOption(app.command(verb, what).argument('<rule>', 'the id of the rule'))
    .addHelpText('after', examples([`rules ${verb} 5f02`, what]))
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const connection = simulatorOf(app, options);
        const { _id } = await findRule(connection, id);
        return printRules(app, [await connection.post<Rule>(`/rules/${_id}/${verb}`)]);
      }),
    );
}
