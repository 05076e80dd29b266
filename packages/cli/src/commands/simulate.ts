import {
  type Rule,
  type SecretsView,
  type Simulator,
  SimulatorError,
  startSimulator,
  type SimulatorOptions,
} from '@call-webhooks/simulator';
import { EVENT_NAMES } from '@call-webhooks/core';
import { CALLS_VARIABLE, RECORDING_VARIABLE } from '@call-webhooks/core/internal';
import { type Command, Option } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { callFieldNames, withFieldNameOption } from '../input/fields.ts';
import { probabilities, repeatable, wholeNumber } from '../input/options.ts';
import {
  checkReplaceable,
  formatSecretFile,
  type SecretOptions,
  withSecretOptions,
  writeSecretFile,
} from '../input/secrets.ts';
import { targetUrl, withExternalOption } from '../input/target.ts';
import { milliseconds } from '../input/time.ts';
import { connect, DEFAULT_PORT } from '../simulator/connection.ts';
import { secretsForActions, type SigningAction, signingActions } from '../simulator/secrets.ts';
import { createUpdatePrinter, updatesOf } from '../simulator/updates.ts';
import type { Output } from '../terminal/output.ts';
import { pairs } from '../terminal/table.ts';
import { t } from '../terminal/text.ts';
import { createRules } from './rules.ts';

/** `simulate`: runs the service on this machine. */
export function simulateCommand(app: App, base: Command): Command {
  const command = base
    .option(
      '-f, --forward-to <url>',
      'send all three events to this URL; 3000/hook means http://127.0.0.1:3000/hook; repeatable',
      repeatable,
    )
    .option(
      '-p, --port <number>',
      `the port (default: ${String(DEFAULT_PORT)}; 0: any free port)`,
      wholeNumber('--port', 0, 65_535),
    )
    .addOption(
      new Option('--clock <mode>', 'real, or manual: the clock stands still until you advance it')
        .choices(['real', 'manual'])
        .default('real'),
    )
    .addOption(
      new Option(
        '--timestamps <mode>',
        "the time in signatures: wall, or clock: that of the simulator's clock, for a receiver that follows it (default: wall)",
      ).choices(['wall', 'clock']),
    )
    .option('--seed <text>', 'produce the same ids, secrets, jitter and faults in each run')
    .option('--retry-every <duration>', 'the time between attempts (default: 5m)', milliseconds)
    .option(
      '--max-attempts <number>',
      'deliveries of one event, including the first (default: 6)',
      wholeNumber('--max-attempts', 1, 1_000),
    )
    .addOption(
      new Option(
        '--while-paused <mode>',
        'what happens to the events of a paused rule (default: drop)',
      ).choices(['drop', 'hold']),
    )
    .option('--chaos <mode=probability>', 'inject faults from the start; repeatable', repeatable)
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--api-token <token>', 'the API token to require (default: from the seed)');
  return withExternalOption(withSecretOptions(withFieldNameOption(command)))
    .option('--shared-secret', 'sign all actions with the same secret, unlike the real service')
    .option('--secret-out <file>', 'write the secrets to a file, for --secret-file')
    .addHelpText(
      'after',
      `
As with the real service, each action has its own secret. The secrets that you
give are used in this order: call:started, call:completed, then the recording
webhook, unless $RECORDING_WEBHOOK_SECRET is set. Missing secrets are generated.
${examples(
  ['simulate --forward-to http://127.0.0.1:3000/hook', 'Send every event to your receiver'],
  [
    'simulate -f 3000/hook --clock manual --seed 7',
    'A repeatable run in which you decide when retries happen',
  ],
  ['simulate -f 3000/hook --retry-every 5s --max-attempts 3', 'Retry quickly'],
  ['simulate -f 3000/hook --json | jq .attempt.response', 'Print the responses, for scripts'],
)}`,
    )
    .action(app.action((options: SimulateOptions) => simulate(app, options)));
}

interface SimulateOptions extends SecretOptions, StartOptions {
  readonly forwardTo?: readonly string[];
  readonly sharedSecret?: boolean;
  readonly secretOut?: string;
}

/** Runs the simulator until it is stopped, and prints every attempt as it ends. */
async function simulate(app: App, options: SimulateOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const { forwardTo = [], sharedSecret, secretOut, secret, secretFile, ...settings } = options;
  const urls = new Set(forwardTo.map((url) => targetUrl(url, settings.allowExternal)));
  if (secretOut !== undefined) await checkReplaceable(secretOut);
  const nextSecret = await secretsForActions(io, { secret, secretFile });
  const simulator = await start(settings);
  try {
    const { url, apiToken, seed, rules, secrets } = simulator;
    const connection = connect(url, signal);
    const secretFor = (event: Rule['trigger']) =>
      (sharedSecret ? secrets.all()[0] : undefined) ?? nextSecret(event);
    // There is only one recording webhook: the first URL keeps it.
    let events: readonly Rule['trigger'][] = EVENT_NAMES;
    for (const one of urls) {
      await createRules(connection, one, events, secretFor);
      events = ['call:started', 'call:completed'];
    }
    const actions = signingActions(rules.list(), await connection.get<SecretsView>('/secrets'));
    if (secretOut !== undefined) await writeSecretFile(secretOut, secretFileOf(actions));
    if (output.json)
      await output.print({
        type: 'ready',
        url,
        apiToken,
        seed,
        secrets: actions,
        rules: rules.list(),
      });
    else printBanner(output, simulator, actions);
    const printUpdate = createUpdatePrinter(output);
    for await (const update of await updatesOf(connection)) await printUpdate(update);
  } finally {
    await simulator.close();
  }
  return undefined;
}

/** The flags of the simulator itself. */
interface StartOptions extends Pick<
  SimulatorOptions,
  | 'port'
  | 'clock'
  | 'timestamps'
  | 'seed'
  | 'retryEvery'
  | 'maxAttempts'
  | 'whilePaused'
  | 'headerPrefix'
  | 'apiToken'
  | 'allowExternal'
> {
  readonly chaos?: readonly string[];
  readonly fieldName?: readonly string[];
}

/** Starts the simulator. @throws CliError 2 and 3 */
async function start({ chaos = [], fieldName, ...options }: StartOptions): Promise<Simulator> {
  const { port = DEFAULT_PORT } = options;
  try {
    const fieldNames = callFieldNames(fieldName);
    return await startSimulator({ ...options, port, chaos: probabilities(chaos), fieldNames });
  } catch (error) {
    if (error instanceof SimulatorError)
      throw badInput(
        error.message,
        'Correct this option. For all options: npx call-webhooks simulate --help',
      );
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw environmentError(
        `Port ${String(port)} is in use, perhaps by another simulator.`,
        'Stop it, or use any free port: --port 0',
      );
    if (code === 'EACCES')
      throw environmentError(
        `You are not allowed to listen on port ${String(port)}.`,
        'Use a port from 1024 up, or any free port: --port 0',
      );
    throw error;
  }
}

/** A secret file of all signed actions. */
const secretFileOf = (actions: readonly SigningAction[]): string =>
  formatSecretFile(
    actions.flatMap(({ secret, actionId, trigger }) =>
      secret === null ? [] : [{ secret, actionId, note: `${trigger},` }],
    ),
  );

/** What the user needs at the start: addresses, targets, and the secrets of the actions. */
function printBanner(
  output: Output,
  { url, apiToken, seed, clock }: Simulator,
  actions: readonly SigningAction[],
): void {
  const { messageColors: colors, messageColumns: columns } = output;
  const { bold, cyan, dim } = colors;
  const isDefault = url.endsWith(`:${String(DEFAULT_PORT)}`);
  const flag = isDefault ? '' : ` --simulator ${new URL(url).port}`;
  const addresses = [
    ['inspector', cyan(url)],
    ['REST API', `${url}/v1`],
    ['API token', apiToken],
    ['seed', seed],
    ['clock', clock.mode],
  ] as const;
  const lines = [bold('The simulator is running.'), t``, ...pairs(colors, addresses, columns), t``];
  for (const { trigger, url: receiver, rule, ruleId, actionId, secret } of actions) {
    const action = [
      ['event', trigger],
      ['receiver', receiver],
      ['rule', `${ruleId} (${rule})`],
      ['action', actionId],
      ['signing secret', bold(secret ?? '')],
    ] as const;
    lines.push(...pairs(colors, action, columns), t``);
  }
  if (actions.length > 0) {
    const secretsOf = (isRecording: boolean) =>
      actions
        .filter(({ trigger }) => (trigger === 'call:recording-available') === isRecording)
        .map(({ secret }) => secret);
    lines.push(
      dim("For the receiver's .env file:"),
      t`${CALLS_VARIABLE}=${[...new Set(secretsOf(false))].join(',')}`,
      t`${RECORDING_VARIABLE}=${secretsOf(true).join(',')}`,
      t``,
      t`Place a call: ${cyan(`npx call-webhooks trigger call${flag}`)}`,
    );
  } else
    lines.push(t`Add a receiver: ${cyan(`npx call-webhooks rules create --url 3000/hook${flag}`)}`);
  for (const line of [...lines, dim('Press Ctrl-C to stop.'), t``]) output.message(line);
}
