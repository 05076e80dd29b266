import {
  type Rule,
  type Simulator,
  SimulatorError,
  type SimulatorOptions,
  startSimulator,
} from '@call-webhooks/simulator';
import { type Command, Option } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { milliseconds, probabilities, repeatable, wholeNumber } from '../input/options.ts';
import {
  CALLS_VARIABLE,
  checkReplaceable,
  RECORDING_VARIABLE,
  type SecretOptions,
  withSecretOptions,
  writeSecretFile,
} from '../input/secrets.ts';
import { targetUrl, withExternalOption } from '../input/target.ts';
import { connect, DEFAULT_PORT } from '../simulator/connection.ts';
import {
  secretFileOf,
  secretsForActions,
  type SigningAction,
  signingActions,
  withSharedSecretOption,
} from '../simulator/secrets.ts';
import { createUpdatePrinter, updatesOf } from '../simulator/updates.ts';
import { pairs } from '../terminal/table.ts';
import { type Colors, type Printable, t, type Text } from '../terminal/text.ts';

/** `simulate`: runs the service on this machine. */
export function simulateCommand(app: App, base: Command): Command {
  const command = base
    .option('-f, --forward-to <url>', 'send all three events to this URL; repeatable', repeatable)
    .option(
      '-p, --port <number>',
      `the port (default: ${String(DEFAULT_PORT)}; 0: any free port)`,
      wholeNumber('--port', 0, 65_535),
    )
    .addOption(
      new Option('--clock <mode>', 'real, or manual: it stands still until you advance it')
        .choices(['real', 'manual'])
        .default('real'),
    )
    .option('--seed <text>', 'the same ids, secrets, jitter and chaos in each run')
    .option('--retry-every <duration>', 'the time between attempts (default: 5m)', milliseconds)
    .option(
      '--max-attempts <number>',
      'attempts per delivery, including the first (default: 6)',
      wholeNumber('--max-attempts', 1, 1_000),
    )
    .addOption(
      new Option('--while-paused <mode>', 'the events of a paused rule (default: drop)').choices([
        'drop',
        'hold',
      ]),
    )
    .option('--chaos <mode=probability>', 'inject faults from the start; repeatable', repeatable)
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--api-token <token>', 'the API token to require (default: from the seed)');
  withSharedSecretOption(withSecretOptions(command)).option(
    '--secret-out <file>',
    'write the secrets to a file, for --secret-file',
  );
  return withExternalOption(command)
    .addHelpText(
      'after',
      `
As at the service, each action has its own secret. Given secrets are used in
this order: call:started, call:completed, then the recording webhook, unless
$RECORDING_WEBHOOK_SECRET is set. What is not given is generated.
${examples(
  ['simulate --forward-to http://127.0.0.1:3000/hook', 'Send every event to your receiver'],
  [
    'simulate -f 3000/hook --clock manual --seed 7',
    'A repeatable run in which retries do not wait',
  ],
  ['simulate -f 3000/hook --retry-every 5s --max-attempts 3', 'Retry quickly'],
  ['simulate -f 3000/hook --json | jq .attempt.response', 'For scripts'],
)}`,
    )
    .action(app.action((options: SimulateOptions) => simulate(app, options)));
}

/** Runs the simulator until it is stopped, and prints every attempt as it ends. */
async function simulate(app: App, options: SimulateOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const urls = (options.forwardTo ?? []).map((url) => targetUrl(url, options.allowExternal));
  if (options.secretOut !== undefined) await checkReplaceable(options.secretOut);
  const secretFor = await secretsForActions(io, options);
  const simulator = await start(options);
  try {
    const actions = createRules(simulator, urls, { secretFor, isShared: options.sharedSecret });
    const { secretOut } = options;
    if (secretOut !== undefined) await writeSecretFile(secretOut, secretFileOf(actions));
    const { url, apiToken, seed, rules } = simulator;
    if (output.json) {
      const secrets = actions.map(({ rotations: _, ...action }) => action);
      await output.print({ type: 'ready', url, apiToken, seed, secrets, rules: rules.list() });
    } else {
      const { messageColors, messageColumns } = output;
      for (const line of banner(messageColors, simulator, actions, messageColumns))
        output.message(line);
    }
    const printUpdate = createUpdatePrinter(output);
    for await (const update of await updatesOf(connect(url, signal))) await printUpdate(update);
  } finally {
    await simulator.close();
  }
  return undefined;
}

/** The flags of `simulate`. */
export interface SimulateOptions extends SecretOptions {
  readonly forwardTo?: readonly string[];
  readonly port?: number;
  readonly clock: string;
  readonly seed?: string;
  readonly retryEvery?: number;
  readonly maxAttempts?: number;
  readonly whilePaused?: string;
  readonly chaos?: readonly string[];
  readonly headerPrefix?: string;
  readonly apiToken?: string;
  readonly sharedSecret?: boolean;
  readonly secretOut?: string;
  readonly allowExternal?: boolean;
}

const SEE_HELP = 'Correct this option. For all options: call-webhooks simulate --help';
const FIXES: Partial<Record<SimulatorError['code'], string>> = {
  'external-target': 'To send to another machine, pass --allow-external.',
};

/** Starts the simulator. @throws CliError 2 and 3 */
export async function start(options: SimulateOptions): Promise<Simulator> {
  const { port = DEFAULT_PORT, clock, whilePaused, chaos = [] } = options;
  const { seed, retryEvery, maxAttempts, headerPrefix, apiToken, allowExternal } = options;
  try {
    return await startSimulator({
      port,
      clock: clock as SimulatorOptions['clock'],
      seed,
      retryEvery,
      maxAttempts,
      headerPrefix,
      whilePaused: whilePaused as SimulatorOptions['whilePaused'],
      chaos: probabilities(chaos),
      apiToken,
      allowExternal,
    });
  } catch (error) {
    if (error instanceof SimulatorError)
      throw badInput(error.message, FIXES[error.code] ?? SEE_HELP);
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

interface RuleSecrets {
  /** The given secret of the next action for an event. Without one, it is generated. */
  readonly secretFor: (event: Rule['trigger']) => string | undefined;
  /** Whether all actions share one secret. */
  readonly isShared: boolean | undefined;
}

/**
 * Creates the rules that send everything to these URLs. There is only one recording webhook: the
 * first URL keeps it.
 * @returns all actions, with their secrets
 * @throws CliError 2 for an invalid secret or URL
 */
export function createRules(
  { rules, secrets }: Simulator,
  urls: readonly string[],
  { secretFor, isShared }: RuleSecrets,
): SigningAction[] {
  const action = (url: string, event: Rule['trigger']) => ({
    url,
    secret: secretFor(event) ?? (isShared ? secrets.all()[0] : undefined),
  });
  try {
    for (const url of new Set(urls)) {
      for (const trigger of ['call:started', 'call:completed'] as const)
        rules.create({ trigger, scope: 'workspace', actions: [action(url, trigger)] });
      if (!rules.list().some(({ kind }) => kind === 'recording-webhook'))
        rules.setRecordingWebhook(action(url, 'call:recording-available'));
    }
  } catch (error) {
    if (error instanceof SimulatorError)
      throw badInput(error.message, FIXES[error.code] ?? SEE_HELP);
    throw error;
  }
  const ids = rules.list().flatMap(({ actions }) => actions.map(({ _id }) => _id));
  const view = Object.fromEntries(ids.map((id) => [id, secrets.get(id) ?? null]));
  return signingActions(rules.list(), view);
}

/** What the user needs at the start: addresses, targets, and the secrets of the actions. */
export function banner(
  colors: Colors,
  { url, apiToken, seed, clock }: Simulator,
  actions: readonly SigningAction[],
  columns: number,
): Text[] {
  const { bold, cyan, dim } = colors;
  const isDefault = url.endsWith(`:${String(DEFAULT_PORT)}`);
  const flag = isDefault ? '' : ` --simulator ${new URL(url).port}`;
  return [
    bold('The simulator is running.'),
    t``,
    ...pairs(
      colors,
      [
        ['inspector', cyan(url)],
        ['REST API', `${url}/v1`],
        ['API token', apiToken],
        ['seed', seed],
        ['clock', clock.mode],
      ],
      columns,
    ),
    t``,
    ...actions.flatMap((action) => [...pairs(colors, rowsOf(colors, action), columns), t``]),
    ...variableLines(colors, actions),
    ...(actions.length === 0
      ? [t`Add a receiver: ${cyan(`call-webhooks rules create --url 3000/hook${flag}`)}`]
      : [t`Place a call: ${cyan(`call-webhooks trigger call${flag}`)}`]),
    dim('Press Ctrl-C to stop.'),
    t``,
  ];
}

const rowsOf = (
  { bold }: Colors,
  { trigger, url, rule, ruleId, actionId, secret }: SigningAction,
): [string, Printable][] => [
  ['event', trigger],
  ['receiver', url],
  ['rule', `${ruleId} (${rule})`],
  ['action', actionId],
  ['signing secret', secret === null ? 'none: its deliveries are not signed' : bold(secret)],
];

/** The secrets as lines of an `.env` file, to be copied. */
function variableLines({ dim }: Colors, actions: readonly SigningAction[]): Text[] {
  const line = (name: string, isWanted: (action: SigningAction) => boolean) => {
    const secrets = new Set(actions.filter(isWanted).flatMap(({ secret }) => secret ?? []));
    return secrets.size === 0 ? [] : [t`${name}=${[...secrets].join(',')}`];
  };
  const isRecording = ({ trigger }: SigningAction) => trigger === 'call:recording-available';
  const lines = [
    ...line(CALLS_VARIABLE, (action) => !isRecording(action)),
    ...line(RECORDING_VARIABLE, isRecording),
  ];
  return lines.length === 0 ? [] : [dim("For the receiver's .env file:"), ...lines, t``];
}
