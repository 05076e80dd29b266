import { EVENT_NAMES, generateSecret } from '@call-webhooks/core';
import type { Action, Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { decodeText, readData } from '../input/read.ts';
import { type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { targetUrl } from '../input/target.ts';
import type { Io } from '../io.ts';
import { localUrl } from '../simulator/attempt-lines.ts';
import {
  type Connection,
  simulatorOf,
  type SimulatorOptions,
  withSimulatorOption,
} from '../simulator/connection.ts';
import {
  secretsForActions,
  type SecretsView,
  signingActions,
  withSharedSecretOption,
} from '../simulator/secrets.ts';
import { type Column, table } from '../terminal/table.ts';
import { type Colors, type Printable, t } from '../terminal/text.ts';

/** `rules`: manages the rules of the simulator. */
export function rulesCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app), { isDefault: true })
    .addCommand(createCommand(app))
    .addCommand(removeCommand(app))
    .addCommand(stateCommand(app, 'pause', 'Pause a rule, as the service does after a 404'))
    .addCommand(stateCommand(app, 'resume', 'Resume a paused rule'))
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
  const command = app
    .command('list', 'List all rules with their actions')
    .option('--show-secret', 'print only the signing secrets, one per line');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['rules list', 'Which rules are paused, and why'],
        [
          'rules list --show-secret',
          'export CALL_WEBHOOK_SECRET="$(call-webhooks rules list --show-secret)"',
        ],
      ),
    )
    .action(
      app.action(async (options: SimulatorOptions & { readonly showSecret?: boolean }) => {
        const connection = simulatorOf(app, options);
        const rules = await connection.get<Rule[]>('/rules');
        return options.showSecret ? printSecrets(app, connection, rules) : printRules(app, rules);
      }),
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

function removeCommand(app: App): Command {
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

interface CreateOptions extends SimulatorOptions, SecretOptions {
  readonly url: string;
  readonly trigger?: string;
  readonly name?: string;
  readonly scope?: string;
  readonly owner?: string;
  readonly payload?: string;
  readonly unsigned?: boolean;
  readonly sharedSecret?: boolean;
  readonly showSecret?: boolean;
}

/** `rules create`. */
function createCommand(app: App): Command {
  const command = app
    .command('create', 'Create a rule for one event, or for all three')
    .requiredOption('--url <url>', 'the URL of the receiver')
    .option('--trigger <event>', 'only this event')
    .option('--name <text>', 'the name of the rule')
    .option('--scope <scope>', 'workspace: all calls; user: the calls of its owner', 'workspace')
    .option('--owner <userId>', 'the user who owns the rule')
    .option('--payload <json|@file|->', 'a custom payload, sent instead of the event')
    .option('--unsigned', 'an action from before signing was introduced, without a secret')
    .option('--show-secret', 'print the signing secret');
  return withSimulatorOption(withSharedSecretOption(withSecretOptions(command)))
    .addHelpText(
      'after',
      examples(
        ['rules create --url 3000/hook --show-secret', 'All three events'],
        [
          `rules create --url 3000/crm --trigger call:completed \\\n      --payload '{"id":"{{callId}}"}'`,
          'A custom payload',
        ],
      ),
    )
    .action(
      app.action(async (options: CreateOptions) => {
        const connection = simulatorOf(app, options);
        const created = await createRules(app.io, connection, options);
        await printRules(app, created);
        if (options.showSecret) await printSecrets(app, connection, created);
        return undefined;
      }),
    );
}

/** Creates one rule, the recording webhook, or everything that a receiver needs. */
async function createRules(
  io: Io,
  connection: Connection,
  options: CreateOptions,
): Promise<Rule[]> {
  const { trigger, name, scope, owner: ownerId, payload } = options;
  // The simulator decides whether another machine is allowed.
  const url = targetUrl(options.url, true);
  const secretFor = await secretsForActions(io, options);
  const isRecording = trigger === 'call:recording-available';
  if (payload !== undefined && (trigger === undefined || isRecording))
    throw badInput(
      'A custom payload needs a call event.',
      'Add --trigger call:started or --trigger call:completed.',
    );
  const action = {
    url,
    ...(options.unsigned ? { signed: false } : {}),
    ...(payload !== undefined && { payload: await readPayload(io, payload) }),
  };
  const shared = options.sharedSecret ? await sharedSecretOf(connection) : undefined;
  const create = (event: Rule['trigger']) => {
    const secret = options.unsigned ? undefined : (secretFor(event) ?? shared);
    const signed = { ...action, ...(secret !== undefined && { secret }) };
    return event === 'call:recording-available'
      ? connection.post<Rule>('/recording-webhook', signed)
      : connection.post<Rule>('/rules', {
          trigger: event,
          name,
          scope,
          ownerId,
          actions: [signed],
        });
  };
  const events: readonly Rule['trigger'][] =
    trigger === undefined ? EVENT_NAMES : [trigger as Rule['trigger']]; // the simulator checks it
  const created: Rule[] = [];
  for (const event of events) created.push(await create(event));
  return created;
}

/** The secret that the simulator's actions share, or a new one. */
async function sharedSecretOf(connection: Connection): Promise<string> {
  const secrets = Object.values(await connection.get<SecretsView>('/secrets'));
  return secrets.find((one) => one !== null)?.current ?? generateSecret();
}

/** Reads a custom payload. @throws CliError 2 when it is not JSON */
async function readPayload(io: Io, given: string): Promise<unknown> {
  const text = decodeText(await readData(io, given, 'payload'));
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badInput(
      `The payload is not valid JSON: ${(error as Error).message}`,
      `Example: --payload '{"id":"{{callId}}"}'`,
    );
  }
}

const COLUMNS: readonly Column[] = [
  { title: 'rule', cut: 'id' },
  { title: 'event' },
  { title: 'state' },
  { title: 'action', cut: 'id' },
  { title: 'receiver', cut: 'middle' },
  { title: 'name' },
];

/** Prints rules, one row for each action. */
async function printRules({ output }: App, rules: readonly Rule[]): Promise<undefined> {
  if (output.json) for (const rule of rules) await output.print(rule);
  else if (rules.length === 0)
    output.message('There are no rules. Create them: call-webhooks rules create --url URL');
  else
    await output.print(rules, (colors) =>
      table(
        colors,
        COLUMNS,
        rules.flatMap((rule) => rowsOf(colors, rule)),
        output.columns,
      ),
    );
  return undefined;
}

function rowsOf({ green, red, yellow }: Colors, rule: Rule): Printable[][] {
  const { _id, name, trigger, scope, ownerId, state, pauseReason = 'by-hand', actions } = rule;
  const stateText = state === 'active' ? green(state) : red(`paused: ${PAUSED[pauseReason]}`);
  const whole = scope === 'user' ? `${name} (user ${ownerId})` : name;
  if (actions.length === 0) return [[_id, trigger, stateText, '', yellow('no action'), whole]];
  return actions.map((action) => [
    _id,
    trigger,
    stateText,
    action._id,
    action.signed ? localUrl(action.url) : t`${localUrl(action.url)} ${yellow('unsigned')}`,
    whole,
  ]);
}

const PAUSED: Readonly<Record<NonNullable<Rule['pauseReason']>, string>> = {
  'responded-404': '404',
  'last-attempt-failed': 'failed',
  'by-hand': 'by hand',
};

/** Prints the secrets of all actions: without `--json` each once, for scripts. */
async function printSecrets(
  { output }: App,
  connection: Connection,
  rules: readonly Rule[],
): Promise<undefined> {
  const actions = signingActions(rules, await connection.get<SecretsView>('/secrets'));
  if (output.json) for (const action of actions) await output.print(action);
  else
    for (const secret of new Set(actions.flatMap((one) => one.secret ?? [])))
      await output.print(secret, () => t`${secret}`);
  return undefined;
}

const SEE_LIST = 'List them: call-webhooks rules list';

/** Finds a rule by its id or the beginning of it. @throws CliError 2 unless there is one */
export async function findRule(connection: Connection, id: string): Promise<Rule> {
  const rules = await connection.get<Rule[]>('/rules');
  return onlyMatch('rule', id, rules);
}

/** Finds an action of a rule. @throws CliError 2 unless there is one */
export const findActionOf = (rule: Rule, id: string): Action =>
  onlyMatch('action', id, rule.actions);

function onlyMatch<T extends { readonly _id: string }>(
  noun: string,
  id: string,
  all: readonly T[],
): T {
  const matching = all.filter(({ _id }) => id !== '' && _id.startsWith(id));
  const [first] = matching;
  if (!first) throw badInput(`There is no ${noun} ${id}.`, SEE_LIST);
  if (matching.length > 1)
    throw badInput(
      `${String(matching.length)} ${noun}s start with ${id}.`,
      'Give more characters of the id.',
    );
  return first;
}
