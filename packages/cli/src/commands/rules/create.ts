import { EVENT_NAMES, generateSecret } from '@call-webhooks/core';
import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { readData, decodeText } from '../../input/read.ts';
import { withSecretOptions, type SecretOptions } from '../../input/secrets.ts';
import { targetUrl } from '../../input/target-url.ts';
import type { Io } from '../../io.ts';
import { secretsForActions, withSharedSecretOption } from '../../simulator/action-secrets.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type Connection,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import type { SecretsView } from '../../simulator/secrets.ts';
import { printRules, printSecrets } from './print.ts';
import type { RuleOptions } from './update.ts';

interface CreateOptions extends SimulatorOptions, SecretOptions, RuleOptions {
  readonly url: string;
  readonly payload?: string;
  readonly unsigned?: boolean;
  readonly sharedSecret?: boolean;
  readonly showSecret?: boolean;
}

/** `rules create`. */
export function createCommand(app: App): Command {
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
        if (options.showSecret)
          await printSecrets(
            app,
            connection,
            created.flatMap(({ actions }) => actions),
          );
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
export async function readPayload(io: Io, given: string): Promise<unknown> {
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
