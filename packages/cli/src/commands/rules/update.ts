import type { Rule, RuleChanges } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import { t } from '../../terminal/text.ts';
import { findRule } from './find.ts';
import { printRules } from './print.ts';

/** The flags that describe a rule, shared with `rules create`. */
export interface RuleOptions {
  readonly trigger?: string;
  readonly name?: string;
  readonly scope?: string;
  readonly owner?: string;
}

/** `rules update`. */
export function updateCommand(app: App): Command {
  const command = app
    .command('update', 'Change a rule')
    .argument('<rule>', 'the id of the rule')
    .option('--trigger <event>', 'call:started or call:completed')
    .option('--name <text>', 'the name of the rule')
    .option('--scope <scope>', 'workspace: all calls; user: the calls of its owner')
    .option('--owner <userId>', 'the user who owns the rule');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(['rules update 5f02 --trigger call:started', 'Fire when a call starts']),
    )
    .action(
      app.action(async (id: string, options: RuleOptions & SimulatorOptions) => {
        const { trigger, name, scope, owner: ownerId } = options;
        const changes = { trigger, name, scope, ownerId } as RuleChanges;
        if (Object.values(changes).every((value) => value === undefined))
          throw badInput('No change is given.', 'Pass --trigger, --name, --scope or --owner.');
        const connection = simulatorOf(app, options);
        const { _id } = await findRule(connection, id);
        return printRules(app, [await connection.patch<Rule>(`/rules/${_id}`, changes)]);
      }),
    );
}

/** `rules remove`. */
export function removeCommand(app: App): Command {
  const command = app
    .command('remove', 'Remove a rule with its actions')
    .argument('<rule>', 'the id of the rule');
  return withSimulatorOption(command)
    .addHelpText('after', examples(['rules remove 5f02', 'Its pending deliveries are dropped']))
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const connection = simulatorOf(app, options);
        const { _id } = await findRule(connection, id);
        await connection.delete(`/rules/${_id}`);
        await app.output.print(
          { ruleId: _id, removed: true },
          ({ green }) => t`${green('removed')}  ${_id}`,
        );
        return undefined;
      }),
    );
}
