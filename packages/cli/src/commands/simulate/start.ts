import {
  SimulatorError,
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '@call-webhooks/simulator';
import { badInput, environmentError } from '../../errors.ts';
import { probabilities } from '../../input/options.ts';
import type { SecretOptions } from '../../input/secrets.ts';
import { DEFAULT_PORT } from '../../simulator/connection.ts';
import type { Colors } from '../../terminal/colors.ts';
import { pairs } from '../../terminal/table.ts';
import { t, type Printable, type Text } from '../../terminal/text.ts';

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
  readonly db?: string;
  readonly apiToken?: string;
  readonly separateSecrets?: boolean;
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
  const { seed, retryEvery, maxAttempts, headerPrefix, db, apiToken, allowExternal } = options;
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
      db,
      apiToken,
      allowExternal,
    });
  } catch (error) {
    if (error instanceof SimulatorError) {
      if (error.code === 'db-in-use')
        throw environmentError(error.message, 'Stop the other simulator, or use another --db.');
      if (error.code === 'bad-snapshot')
        throw environmentError(error.message, 'Use another file for --db.');
      throw badInput(error.message, FIXES[error.code] ?? SEE_HELP);
    }
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

interface RuleTargets {
  readonly urls: readonly string[];
  /** The secret of all actions. Without one, it is generated. */
  readonly secret: string | undefined;
  /** Whether each action gets its own secret. */
  readonly separate: boolean;
}

/**
 * Creates the rules that send everything to these URLs, unless a snapshot already has them. They
 * share one secret, so that a receiver needs only one.
 * @returns the secrets
 * @throws CliError 2 for an invalid secret or URL
 */
export function createRules(
  simulator: Simulator,
  { urls, secret, separate }: RuleTargets,
): string[] {
  const { rules, secrets } = simulator;
  try {
    for (const url of urls) {
      const exists = rules.list().some(({ actions }) => actions.some((one) => one.url === url));
      if (exists) continue;
      const chosen = separate ? undefined : (secret ?? secrets.all()[0]);
      const first = rules.create({
        trigger: 'call:started',
        scope: 'workspace',
        actions: [{ url, secret: chosen }],
      });
      const shared = separate ? undefined : secrets.get(first.actions[0]?._id ?? '')?.current;
      rules.create({
        trigger: 'call:completed',
        scope: 'workspace',
        actions: [{ url, secret: shared }],
      });
      addRecordingWebhook(simulator, url, shared);
    }
  } catch (error) {
    if (error instanceof SimulatorError)
      throw badInput(error.message, FIXES[error.code] ?? SEE_HELP);
    throw error;
  }
  return secrets.all();
}

/** There is only one recording webhook. The first URL keeps it. */
function addRecordingWebhook({ rules }: Simulator, url: string, secret: string | undefined): void {
  if (rules.list().some(({ kind }) => kind === 'recording-webhook')) return;
  rules.setRecordingWebhook({ url, secret });
}

/** What the user needs at the start: addresses, targets and the secret. */
export function banner(
  colors: Colors,
  { url, apiToken, seed, rules, clock }: Simulator,
  secrets: readonly string[],
  columns: number,
): Text[] {
  const { bold, cyan, dim } = colors;
  const targets = rules
    .list()
    .flatMap(({ trigger, actions }) =>
      actions.map((action): [string, Printable] => [trigger, action.url]),
    );
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
        ...targets,
        ...secrets.map((secret): [string, Printable] => ['signing secret', bold(secret)]),
      ],
      columns,
    ),
    t``,
    ...(targets.length === 0
      ? [t`Add a receiver: ${cyan(`call-webhooks rules create --url 3000/hook${flag}`)}`]
      : [t`Place a call: ${cyan(`call-webhooks trigger call${flag}`)}`]),
    dim('Press Ctrl-C to stop.'),
    t``,
  ];
}
