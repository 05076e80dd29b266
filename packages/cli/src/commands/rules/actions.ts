import type { Action, ActionChanges, Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { givenSecrets, withSecretOptions, type SecretOptions } from '../../input/secrets.ts';
import { targetUrl } from '../../input/target-url.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import { t } from '../../terminal/text.ts';
import { readPayload } from './create.ts';
import { findAction, findRule } from './find.ts';
import { printRules, printSecrets } from './print.ts';

interface ActionOptions extends SimulatorOptions, SecretOptions {
  readonly url?: string;
  /** `false` with `--no-payload`. */
  readonly payload?: string | false;
  readonly unsigned?: boolean;
  readonly signed?: boolean;
  readonly showSecret?: boolean;
}

/** `rules add-action`. */
export function addActionCommand(app: App): Command {
  const command = app
    .command('add-action', 'Add an action to a rule')
    .argument('<rule>', 'the id of the rule')
    .requiredOption('--url <url>', 'the URL of the receiver')
    .option('--payload <json|@file|->', 'a custom payload, sent instead of the event')
    .option('--unsigned', 'an action from before signing was introduced, without a secret')
    .option('--show-secret', 'print the signing secret');
  return withSimulatorOption(withSecretOptions(command))
    .addHelpText(
      'after',
      examples(['rules add-action 5f02 --url 3000/crm --show-secret', 'A second receiver']),
    )
    .action(
      app.action(async (id: string, options: ActionOptions) => {
        const connection = simulatorOf(app, options);
        const { _id } = await findRule(connection, id);
        const changes = await changesFrom(app, options);
        const action = await connection.post<Action>(`/rules/${_id}/actions`, changes);
        await printRules(app, [await connection.get<Rule>(`/rules/${_id}`)]);
        if (options.showSecret) await printSecrets(app, connection, [action]);
        return undefined;
      }),
    );
}

/** `rules update-action`. */
export function updateActionCommand(app: App): Command {
  const command = app
    .command('update-action', 'Change an action')
    .argument('<action>', 'the id of the action')
    .option('--url <url>', 'the URL of the receiver')
    .option('--payload <json|@file|->', 'a custom payload, sent instead of the event')
    .option('--no-payload', 'send the event again instead of a custom payload')
    .option('--unsigned', 'remove the signing secret')
    .option('--signed', 'give an unsigned action a secret')
    .option('--show-secret', 'print the signing secret');
  return withSimulatorOption(withSecretOptions(command))
    .addHelpText(
      'after',
      `
The secret changes only with --secret or --secret-file.
${examples(['rules update-action 8a8b --url 3001/hook', 'Send to another receiver'])}`,
    )
    .action(
      app.action(async (id: string, options: ActionOptions) => {
        const changes = await changesFrom(app, options);
        if (Object.keys(changes).length === 0)
          throw badInput(
            'No change is given.',
            'Pass --url, --payload, --signed, --unsigned or --secret.',
          );
        const connection = simulatorOf(app, options);
        const { rule, action } = await findAction(connection, id);
        await connection.patch<Action>(`/rules/${rule._id}/actions/${action._id}`, changes);
        await printRules(app, [await connection.get<Rule>(`/rules/${rule._id}`)]);
        if (options.showSecret) await printSecrets(app, connection, [action]);
        return undefined;
      }),
    );
}

/** `rules remove-action`. */
export function removeActionCommand(app: App): Command {
  const command = app
    .command('remove-action', 'Remove an action from its rule')
    .argument('<action>', 'the id of the action');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      `
The service gives an unsigned action a secret when it is recreated: remove the
action and add it again.
${examples(['rules remove-action 8a8b', 'Its pending deliveries are dropped'])}`,
    )
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const connection = simulatorOf(app, options);
        const { rule, action } = await findAction(connection, id);
        await connection.delete(`/rules/${rule._id}/actions/${action._id}`);
        await app.output.print(
          { actionId: action._id, removed: true },
          ({ green }) => t`${green('removed')}  ${action._id}`,
        );
        return undefined;
      }),
    );
}

/** The changes that the flags describe. */
async function changesFrom({ io }: App, options: ActionOptions): Promise<ActionChanges> {
  const { url, payload, unsigned, signed } = options;
  if (unsigned && signed)
    throw badInput('--signed and --unsigned exclude each other.', 'Remove one of them.');
  // Those of the environment belong to other actions.
  const given = options.secret !== undefined || options.secretFile !== undefined;
  const [secret] = unsigned || !given ? [] : await givenSecrets(io, options);
  return {
    // The simulator decides whether another machine is allowed.
    ...(url !== undefined && { url: targetUrl(url, true) }),
    ...(payload === false && { payload: null }),
    ...(typeof payload === 'string' && { payload: await readPayload(io, payload) }),
    ...(unsigned && { signed: false }),
    ...(signed && { signed: true }),
    ...(secret !== undefined && { secret }),
  };
}
