import { EVENT_NAMES } from '@call-webhooks/core';
import type { Action, Rule, SecretsView } from '@call-webhooks/simulator';
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
  onlyMatch,
  simulatorOf,
  type SimulatorOptions,
  withSimulatorOption,
} from '../simulator/connection.ts';
import {
  type SecretFor,
  secretsForActions,
  type SigningAction,
  signingActions,
} from '../simulator/secrets.ts';
import { PAUSED } from '../simulator/updates.ts';
import { counted } from '../terminal/format.ts';
import type { Column } from '../terminal/table.ts';
import { type Colors, type Printable, t } from '../terminal/text.ts';

/** `rules`: manages the rules of the simulator. */
export function rulesCommand(app: App, base: Command): Command {
  const command = (name: string, what: string) => withSimulatorOption(app.command(name, what));
  return base
    .addCommand(
      command('list', 'List all rules with their actions')
        .option(
          '--show-secret',
          'print the signing secrets; if the output is piped, their rules and actions go to stderr',
        )
        .action(app.action((options: ListOptions) => list(app, options))),
      { isDefault: true },
    )
    .addCommand(createCommand(app))
    .addCommand(
      command('remove', 'Remove a rule with its actions and its pending events')
        .argument('<rule>', 'the id of the rule')
        .action(app.action((id: string, options: SimulatorOptions) => remove(app, id, options))),
    )
    .addCommand(stateCommand(app, 'pause', 'Pause a rule, as the service does after a 404'))
    .addCommand(stateCommand(app, 'resume', 'Resume a paused rule'))
    .addHelpText(
      'afterAll',
      `
The first characters of an id are enough. There is only one recording webhook:
The command rules create points it to the new URL.
${examples(
  ['rules create --url http://127.0.0.1:3000/hook', 'Send all three events to one receiver'],
  ['rules list', 'See which rules are paused, and why'],
  ['rules resume 5f02', 'Resume the rule whose id begins with 5f02'],
  [
    `rules create --url 3000/crm --trigger call:completed \\\n      --payload '{"id":"{{callId}}"}'`,
    'Send a custom payload',
  ],
  [
    'rules list --show-secret',
    'export CALL_WEBHOOK_SECRET="$(npx call-webhooks rules list --show-secret)"',
  ],
)}`,
    );
}

interface ListOptions extends SimulatorOptions {
  readonly showSecret?: boolean;
}

async function list(app: App, options: ListOptions): Promise<undefined> {
  const connection = simulatorOf(app, options);
  const rules = await connection.get<Rule[]>('/rules');
  return options.showSecret ? printSecrets(app, connection, rules) : printRules(app, rules);
}

function stateCommand(app: App, verb: 'pause' | 'resume', what: string): Command {
  return withSimulatorOption(app.command(verb, what))
    .argument('<rule>', 'the id of the rule')
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const connection = simulatorOf(app, options);
        const { _id } = await findRule(connection, id);
        return printRules(app, [await connection.post<Rule>(`/rules/${_id}/${verb}`)]);
      }),
    );
}

async function remove(app: App, id: string, options: SimulatorOptions): Promise<undefined> {
  const connection = simulatorOf(app, options);
  const { _id } = await findRule(connection, id);
  await connection.delete(`/rules/${_id}`);
  const record = { ruleId: _id, removed: true };
  await app.output.print(record, ({ green }) => t`${green('removed')}  ${_id}`);
  return undefined;
}

interface CreateOptions extends ListOptions, SecretOptions {
  readonly url: string;
  readonly trigger?: Rule['trigger'];
  readonly payload?: string;
  readonly unsigned?: boolean;
}

function createCommand(app: App): Command {
  const command = app
    .command('create', 'Create a rule for one event, or for all three')
    .requiredOption(
      '--url <url>',
      'the URL of the receiver; 3000/hook means http://127.0.0.1:3000/hook',
    )
    .option('--trigger <event>', 'only this event')
    .option('--payload <json|@file|->', 'a custom payload, sent instead of the event')
    .option(
      '--unsigned',
      'an action without a secret, like one created before signing was introduced',
    )
    .option('--show-secret', 'print the signing secret');
  return withSimulatorOption(withSecretOptions(command)).action(
    app.action(async (options: CreateOptions) => {
      const { trigger, payload, unsigned, showSecret } = options;
      const isCallEvent = trigger !== undefined && trigger !== 'call:recording-available';
      if (payload !== undefined && !isCallEvent)
        throw badInput(
          'A custom payload needs a call event.',
          'Add --trigger call:started or --trigger call:completed.',
        );
      const connection = simulatorOf(app, options);
      // The simulator decides whether another machine is allowed.
      const url = targetUrl(options.url, true);
      const given = unsigned ? undefined : await secretsForActions(app.io, options);
      let generated = 0;
      const secretFor =
        given &&
        ((event: Rule['trigger']) => {
          const secret = given(event);
          if (secret === undefined) generated++;
          return secret;
        });
      const events = trigger === undefined ? EVENT_NAMES : [trigger];
      const custom = payload === undefined ? undefined : await readPayload(app.io, payload);
      const before = await connection.get<Rule[]>('/rules');
      const created = await createRules(connection, url, events, secretFor, custom);
      await printRules(app, created);
      const moved = before.find(({ _id }) => created.some((rule) => rule._id === _id));
      if (moved)
        app.output.message(
          t`There is only one recording webhook. Its URL was ${moved.actions[0]?.url ?? ''} before.`,
        );
      if (showSecret) await printSecrets(app, connection, created);
      else if (generated > 0)
        app.output.message(
          `${counted(generated, 'secret')} ${generated === 1 ? 'was' : 'were'} generated, and your receiver needs ${generated === 1 ? 'it' : 'all of them'}. To see every secret: npx call-webhooks rules list --show-secret`,
        );
      return undefined;
    }),
  );
}

/**
 * Creates a rule for each of these events; that of a recording is the recording webhook.
 * @param secretFor without it, the actions are unsigned
 * @param payload sent instead of the event
 */
export async function createRules(
  connection: Connection,
  url: string,
  events: readonly Rule['trigger'][],
  secretFor: SecretFor | undefined,
  payload?: unknown,
): Promise<Rule[]> {
  const created: Rule[] = [];
  for (const trigger of events) {
    const signing = secretFor ? { secret: secretFor(trigger) } : { signed: false };
    const action = { url, payload, ...signing };
    created.push(
      trigger === 'call:recording-available'
        ? await connection.post<Rule>('/recording-webhook', action)
        : await connection.post<Rule>('/rules', { trigger, scope: 'workspace', actions: [action] }),
    );
  }
  return created;
}

/** @throws CliError 2 when it is not JSON */
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
    output.message('There are no rules. Create them: npx call-webhooks rules create --url URL');
  else
    await output.printTable(rules, COLUMNS, (colors) =>
      rules.flatMap((rule) => rowsOf(colors, rule)),
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

/**
 * Prints the secrets of all actions: for scripts each once, and for a person at a terminal with its action, as
 * in a secret file. Whose they are is told in either case: a script reads stdout alone.
 */
async function printSecrets(
  { output, io }: App,
  connection: Connection,
  rules: readonly Rule[],
): Promise<undefined> {
  const actions = signingActions(rules, await connection.get<SecretsView>('/secrets'));
  if (output.json) for (const action of actions) await output.print(action);
  else if (io.stdout.isTTY)
    for (const action of actions)
      await output.print(
        undefined,
        ({ dim, yellow }) =>
          t`${action.secret ?? yellow('unsigned')}${dim(` # ${ownerOf(action)}`)}`,
        Infinity,
      );
  else {
    const secrets = [...new Set(actions.flatMap((one) => one.secret ?? []))];
    for (const secret of secrets) await output.print(secret, () => t`${secret}`);
    for (const action of actions) {
      const { secret } = action;
      const which = secret === null ? 'unsigned' : `secret ${secrets.indexOf(secret) + 1}`;
      output.message(t`${which}: ${ownerOf(action)}`);
    }
  }
  return undefined;
}

const ownerOf = ({ trigger, ruleId, actionId }: SigningAction): string =>
  `${trigger}, rule ${ruleId}, action ${actionId}`;

/** Finds a rule by its id or the beginning of it. @throws CliError 2 unless there is one */
export const findRule = async (connection: Connection, id: string): Promise<Rule> =>
  onlyMatch('rule', id, await connection.get<Rule[]>('/rules'));

/** Finds an action of a rule. @throws CliError 2 unless there is one */
export const findActionOf = (rule: Rule, id: string): Action =>
  onlyMatch('action', id, rule.actions);
