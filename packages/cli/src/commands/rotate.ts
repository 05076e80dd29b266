import { type SecretStore, type StoredSecret, UnconfirmedWriteError } from '@call-webhooks/client';
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
import {
  givenBaseUrl,
  serviceClient,
  type ServiceOptions,
  withServiceOptions,
} from '../service/client.ts';
import { simulatorOf } from '../simulator/connection.ts';
import type { SecretsView } from '../simulator/secrets.ts';
import { counted } from '../terminal/format.ts';
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
    .argument('<ruleId>', 'the id of the rule; in the simulator, its first characters are enough')
    .argument(
      '<actionId>',
      'the id of its action; in the simulator, its first characters are enough',
    )
    .option(
      '-o, --secret-out <file>',
      'put the new secret first in this file, and keep the other secrets',
    )
    .option('--show-secret', 'print the new secret')
    .option('-y, --yes', 'do not ask for confirmation');
  return withServiceOptions(command)
    .addHelpText(
      'after',
      `
With --base-url or $CALL_WEBHOOKS_BASE_URL, the command rotates the secret in
the service; otherwise, or with --simulator, it rotates the secret in the
simulator. The next delivery is signed with the new secret, so pass --secret-out
or --show-secret: without one of them, nothing is rotated.

With --secret-out, the old secret stays in the file for ten minutes. The other
lines of the file stay as they are. A comment says which action a secret belongs
to, as in: whsec_… # action ID. The command listen --secret-file reads the file
for every delivery. For your app, see "Rotate" in the docs about secrets.

The service has no API for the secret of the recording webhook: rotate it in the
administration area. In the simulator, this command rotates it as well.
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
  // The service returns the new secret once. Rotating without keeping it would lose it.
  if (file === undefined && !showSecret)
    throw badInput('The new secret would be lost.', 'Pass --secret-out FILE or --show-secret.');
  if (file !== undefined) await checkReplaceable(file);
  const baseUrl = givenBaseUrl(app, options);
  const { secret, withoutAction, ids } =
    baseUrl === undefined
      ? await rotateInSimulator(app, action, options)
      : await rotateInService(app, action, options, baseUrl);
  await output.print({ ...ids, rotated: true, file, ...(showSecret && { secret }) }, ({ green }) =>
    showSecret ? t`${secret}` : t`${green('rotated')}  ${ids.actionId}`,
  );
  if (file !== undefined) output.message(t`The new secret is the first line of ${file}.`);
  if (withoutAction > 0)
    output.message(
      t`${counted(withoutAction, 'secret')} in this file ${withoutAction === 1 ? 'names' : 'name'} no action, and ${withoutAction === 1 ? 'stays' : 'stay'} valid: remove the old secret of this action after ten minutes. To automate this, add the action to each secret: whsec_… # action ID`,
    );
  return EXIT.done;
}

interface Rotated {
  readonly secret: string;
  readonly ids: ActionIds;
  /** How many secrets in the file name no action, so that none of them got an end. */
  readonly withoutAction: number;
}

/** Any answer but a "yes" leaves the secret as it is. @throws CliError 2 */
async function confirm(app: App, { yes }: RotateOptions, where: string): Promise<void> {
  if (yes) return;
  if (!app.interactive)
    throw badInput('The rotation is not confirmed.', 'Pass --yes to rotate the secret now.');
  const question = `Rotate the secret at ${where}? The next delivery will be signed with the new secret.`;
  if (await askYesNo(app, question)) return;
  throw badInput('Nothing was rotated.', 'Run the command again to rotate the secret.');
}

/** The simulator has the secrets of all actions, and those of the recording webhook. */
async function rotateInSimulator(
  app: App,
  { ruleId, actionId }: ActionIds,
  options: RotateOptions,
): Promise<Rotated> {
  const connection = simulatorOf(app, options);
  const rule = await findRule(connection, ruleId);
  const action = findActionOf(rule, actionId);
  const ids = { ruleId: rule._id, actionId: action._id };
  await confirm(app, options, connection.url);
  const old = (await connection.get<SecretsView>('/secrets'))[action._id]?.current;
  const { secretOut } = options;
  const store = secretOut === undefined ? undefined : secretFileStore(secretOut, ids.actionId, old);
  const before = (await store?.load()) ?? [];
  await store?.save(before); // a file that cannot be written fails before anything is rotated
  const path = `/rules/${ids.ruleId}/actions/${ids.actionId}/rotate`;
  const { signingSecret: secret } = await connection.post<{ signingSecret: string }>(path);
  const expiresAt = Date.now() + OVERLAP_MS;
  const ended = before.map((one) =>
    one.actionId === ids.actionId
      ? { ...one, expiresAt: Math.min(one.expiresAt ?? Infinity, expiresAt) }
      : one,
  );
  await store?.save([{ id: 'new', secret, actionId: ids.actionId }, ...ended]);
  return { secret, ids, withoutAction: nameless(ended) };
}

const nameless = (secrets: readonly StoredSecret[]): number =>
  secrets.filter(({ actionId }) => actionId === undefined).length;

/** @throws CliError 3 when it was rotated, but the new secret is not saved or unclear */
async function rotateInService(
  app: App,
  ids: ActionIds,
  options: RotateOptions,
  baseUrl: string,
): Promise<Rotated> {
  const { rules } = await serviceClient(app, options);
  await confirm(app, options, baseUrl);
  const { signal } = app;
  const { secretOut: file } = options;
  try {
    if (file === undefined) {
      const { secret } = await rules.rotateSigningSecret(ids.ruleId, ids.actionId, { signal });
      return { secret, ids, withoutAction: 0 };
    }
    const store = secretFileStore(file, ids.actionId);
    const { current, saved } = await rules.rotateInto(store, {
      ...{ ...ids, overlap: OVERLAP_MS, signal },
    });
    return { secret: current.secret, ids, withoutAction: nameless(saved) };
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
      `The secret was rotated, but the response contains several secrets: ${secrets.map(({ path }) => path).join(', ')}.`,
      file === undefined
        ? 'One of them will verify the next delivery. Next time, pass --wire secretField=PATH.'
        : `All of them are in ${file}, so deliveries will be verified. Remove the wrong ones. Next time, pass --wire secretField=PATH.`,
    );
  }
  // After Ctrl-C no error is printed, but this one must not be missed.
  if (signal.aborted) output.warn(error.message);
  return error;
}

/**
 * A secret file as the store of a rotation. Its other lines stay as they are.
 * @param known the secret of this action, if it is known: the file may not say whose it is
 */
const secretFileStore = (path: string, actionId: string, known?: string): SecretStore => ({
  load: async () =>
    secretsOf(await contentOf(path), path).map(({ variable: _none, ...one }, at): StoredSecret => ({
      id: `line-${String(at + 1)}`,
      ...one,
      ...(one.secret === known && { actionId }),
    })),
  save: async (secrets) =>
    writeSecretFile(path, updateSecretFile(await contentOf(path), path, secrets)),
});
