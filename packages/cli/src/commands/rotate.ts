import {
  type Client,
  type SecretStore,
  type StoredSecret,
  UnconfirmedWriteError,
} from '@call-webhooks/client';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError, EXIT } from '../errors.ts';
import {
  checkReplaceable,
  contentOf,
  secretsOf,
  updateSecretFile,
  writeSecretFile,
} from '../input/secrets.ts';
import { isLoopback } from '../input/target.ts';
import {
  givenBaseUrl,
  serviceClient,
  type ServiceOptions,
  simulatorClient,
  withServiceOptions,
} from '../service/client.ts';
import { simulatorOf } from '../simulator/connection.ts';
import type { SecretsView } from '../simulator/secrets.ts';
import { askYesNo } from '../terminal/prompts.ts';
import { t } from '../terminal/text.ts';
import { findActionOf, findRule } from './rules.ts';

/** The action whose secret is rotated. */
interface ActionIds {
  readonly ruleId: string;
  readonly actionId: string;
}

/**
 * How long the old secret stays in the file, in milliseconds: with a tolerance of five minutes
 * either way, no signature verifies for longer.
 */
const OVERLAP_MS = 600_000;

interface RotateOptions extends ServiceOptions {
  readonly secretOut?: string;
  readonly showSecret?: boolean;
  readonly yes?: boolean;
}

/** `rotate`: rotates the signing secret of an action. */
export function rotateCommand(app: App, base: Command): Command {
  const command = base
    .argument('<ruleId>')
    .argument('<actionId>')
    .option('-o, --secret-out <file>', 'put the new secret first in this file, and keep the others')
    .option('--show-secret', 'print the new secret')
    .option('-y, --yes', 'do not ask for confirmation');
  return withServiceOptions(command)
    .addHelpText(
      'after',
      `
With --base-url or $CALL_WEBHOOKS_BASE_URL, the secret is rotated at the
service. Otherwise, or with --simulator, it is rotated in the simulator.
The next delivery is signed with the new secret. listen --secret-file reads the
file for every delivery, and accepts both secrets for ten minutes. Other lines
of the file stay as they are: each secret names its action, as in
whsec_… # action ID. For your app, see "Rotate" in the docs about secrets.
${examples(
  ['rotate RULE ACTION --secret-out .secret', 'The receiver reads .secret, so nothing is lost'],
  ['rotate RULE ACTION --show-secret --yes', 'In a script'],
)}`,
    )
    .action(
      app.action((ruleId: string, actionId: string, options: RotateOptions) =>
        rotate(app, { ruleId, actionId }, options),
      ),
    );
}

async function rotate(app: App, action: ActionIds, options: RotateOptions): Promise<number> {
  const { output } = app;
  const { secretOut: file, showSecret } = options;
  if (file !== undefined) await checkReplaceable(file);
  const baseUrl = givenBaseUrl(app, options);
  const { client, ids, old } =
    baseUrl === undefined
      ? await prepareSimulator(app, action, options)
      : { client: await confirmedClient(app, options, baseUrl), ids: action, old: undefined };
  const { secret, withoutAction } = await rotateSecret(app, client, ids, file, old);
  await output.print({ ...ids, rotated: true, file, ...(showSecret && { secret }) }, ({ green }) =>
    showSecret ? t`${secret}` : t`${green('rotated')}  ${ids.actionId}`,
  );
  if (file !== undefined) output.message(t`The new secret is the first line of ${file}.`);
  if (withoutAction > 0)
    output.message(
      t`Secrets in it that name no action (${withoutAction}) stay valid: remove the old one of this action after ten minutes. To have that done next time, note the action of each: whsec_… # action ID`,
    );
  return EXIT.done;
}

/** A client of the running simulator, and the full ids: they may be shortened. */
async function prepareSimulator(
  app: App,
  { ruleId, actionId }: ActionIds,
  options: RotateOptions,
): Promise<{ client: Client; ids: ActionIds; old?: string | undefined }> {
  const connection = simulatorOf(app, options);
  const client = await simulatorClient(connection, options);
  const rule = await findRule(connection, ruleId);
  const action = findActionOf(rule, actionId);
  const secrets = await connection.get<SecretsView>('/secrets');
  const ids = { ruleId: rule._id, actionId: action._id };
  return { client, ids, old: secrets[action._id]?.current };
}

/** A client of the service. @throws CliError 2 when the new secret would be lost, or for a "no" */
async function confirmedClient(app: App, options: RotateOptions, baseUrl: string): Promise<Client> {
  // The service returns the new secret once. Rotating without keeping it would lose it.
  if (options.secretOut === undefined && !options.showSecret)
    throw badInput('The new secret would be lost.', 'Pass --secret-out FILE or --show-secret.');
  const client = await serviceClient(app, options);
  if (options.yes || isLoopback(new URL(baseUrl).hostname)) return client;
  if (!app.interactive)
    throw badInput('The rotation is not confirmed.', 'Pass --yes to rotate the secret now.');
  const question = `Rotate the secret at ${baseUrl}? The next delivery is signed with the new one.`;
  if (await askYesNo(app, question)) return client;
  throw badInput('Nothing was rotated.', 'Run the command again to rotate the secret.');
}

/**
 * Rotates the secret, into a file if there is one.
 * @param old the secret of the action, if it is known: that of a file knows its action then
 * @returns how many secrets in the file name no action, so that none of them got an end
 * @throws CliError 3 when it was rotated, but the new secret is not saved or unclear
 */
async function rotateSecret(
  app: App,
  { rules }: Client,
  { ruleId, actionId }: ActionIds,
  file: string | undefined,
  old: string | undefined,
): Promise<{ secret: string; withoutAction: number }> {
  const { signal } = app;
  try {
    if (file === undefined) {
      const { secret } = await rules.rotateSigningSecret(ruleId, actionId, { signal });
      return { secret, withoutAction: 0 };
    }
    const store = secretFileStore(file, { actionId, secret: old });
    const request = { ruleId, actionId, overlap: OVERLAP_MS, signal };
    const { current, saved } = await rules.rotateInto(store, request);
    const withoutAction = saved.filter((one) => one.actionId === undefined).length;
    return { secret: current.secret, withoutAction };
  } catch (error) {
    throw explain(app, error, file);
  }
}

/** The error of a rotation. A secret that would be lost is printed, unasked. */
function explain({ output, signal }: App, error: unknown, file: string | undefined) {
  if (!(error instanceof UnconfirmedWriteError)) return error;
  const { code, secrets } = error;
  if (code === 'secret-not-saved') {
    for (const { secret } of secrets) output.message(t`The new secret: ${secret}`);
    return environmentError(
      `The secret was rotated, but ${file ?? 'the file'} could not be written.`,
      'Save the new secret where your receiver reads it.',
    );
  }
  if (code === 'secret-ambiguous') {
    if (file === undefined)
      for (const { path, secret } of secrets) output.message(t`${path}: ${secret}`);
    return environmentError(
      `The secret was rotated, but the response holds several secrets: ${secrets.map(({ path }) => path).join(', ')}.`,
      file === undefined
        ? 'One of them verifies the next delivery. Next time, pass --wire secretField=PATH.'
        : `All of them are in ${file}, so deliveries verify. Remove the wrong ones. Next time, pass --wire secretField=PATH.`,
    );
  }
  // After Ctrl-C no error is printed, but this one must not be missed.
  if (signal.aborted) output.warn(error.message);
  return error;
}

/** A secret file as the store of a rotation. Its other lines stay as they are. */
const secretFileStore = (
  path: string,
  known: { actionId: string; secret: string | undefined },
): SecretStore => ({
  load: async () =>
    secretsOf(await contentOf(path), path).map(({ variable: _none, ...one }, at): StoredSecret => ({
      id: `line-${String(at + 1)}`,
      ...one,
      ...(one.secret === known.secret && { actionId: known.actionId }),
    })),
  save: async (secrets) =>
    writeSecretFile(path, updateSecretFile(await contentOf(path), path, secrets)),
});
