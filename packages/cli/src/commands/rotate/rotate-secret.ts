import {
  AmbiguousSecretError,
  SecretNotSavedError,
  UnconfirmedWriteError,
  type Client,
  type SecretStore,
  type StoredSecret,
} from '@call-webhooks/client';
import type { App } from '../../app.ts';
import { environmentError } from '../../errors.ts';
import {
  contentOf,
  secretsOf,
  updateSecretFile,
  writeSecretFile,
} from '../../input/secret-file.ts';
import { t } from '../../terminal/text.ts';

/** The action whose secret is rotated. */
export interface ActionIds {
  readonly ruleId: string;
  readonly actionId: string;
}

/** Where the new secret goes. */
export interface SecretTarget {
  readonly secretOut?: string;
  readonly showSecret?: boolean;
}

/** A secret after its rotation. */
export interface Rotated {
  readonly secret: string;
  /** How many secrets in the file name no action, so that none of them got an end. */
  readonly withoutAction: number;
  /** The variable in the file that holds it, of an `.env` file. */
  readonly variable?: string | undefined;
}

/**
 * How long the old secret stays in the file, in milliseconds: with a tolerance of five minutes
 * either way, no signature verifies for longer.
 */
const OVERLAP_MS = 600_000;

/**
 * Rotates the secret, into a file if there is one.
 * @param old the secret of the action, if it is known: that of a file knows its action then
 * @throws CliError 3 when it was rotated, but the new secret is not saved or unclear
 */
export async function rotateSecret(
  app: App,
  { rules }: Client,
  { ruleId, actionId }: ActionIds,
  target: SecretTarget,
  old?: string,
): Promise<Rotated> {
  const { signal } = app;
  const file = target.secretOut;
  try {
    if (file === undefined) {
      const { secret } = await rules.rotateSigningSecret(ruleId, actionId, { signal });
      return { secret, withoutAction: 0 };
    }
    const store = secretFileStore(file, { actionId, secret: old });
    const request = { ruleId, actionId, overlap: OVERLAP_MS, signal };
    const { current, saved } = await rules.rotateInto(store, request);
    const { variable } = (await secretsIn(file)).find((one) => one.secret === current.secret) ?? {};
    const withoutAction = saved.filter((one) => one.actionId === undefined).length;
    return { secret: current.secret, withoutAction, variable };
  } catch (error) {
    throw explain(app, error, target);
  }
}

function explain({ output, signal }: App, error: unknown, { secretOut: file }: SecretTarget) {
  if (error instanceof SecretNotSavedError) {
    // Printing the secret unasked is better than losing it.
    output.message(t`The new secret: ${error.secret}`);
    return environmentError(
      `The secret was rotated, but ${file ?? 'the file'} could not be written.`,
      'Save the new secret where your receiver reads it.',
    );
  }
  if (error instanceof AmbiguousSecretError) {
    const paths = error.choices.map(({ path }) => path).join(', ');
    if (file === undefined)
      for (const { path, secret } of error.choices) output.message(t`${path}: ${secret}`);
    return environmentError(
      `The secret was rotated, but the response holds several secrets: ${paths}.`,
      file === undefined
        ? 'One of them verifies the next delivery. Next time, pass --wire secretField=PATH.'
        : `All of them are in ${file}, so deliveries verify. Remove the wrong ones. Next time, pass --wire secretField=PATH.`,
    );
  }
  // After Ctrl-C no error is printed, but this one must not be missed.
  if (error instanceof UnconfirmedWriteError && signal.aborted) output.warn(error.message);
  return error;
}

const secretsIn = async (path: string) => secretsOf(await contentOf(path), path);

/** A secret file as the store of a rotation. Its other lines stay as they are. */
function secretFileStore(
  path: string,
  known: { actionId: string; secret: string | undefined },
): SecretStore {
  return {
    load: async () =>
      (await secretsIn(path)).map(({ secret, actionId, expiresAt }, at): StoredSecret => {
        const owner = secret === known.secret ? known.actionId : actionId;
        return {
          id: `line-${String(at + 1)}`,
          secret,
          ...(owner !== undefined && { actionId: owner }),
          ...(expiresAt !== undefined && { expiresAt }),
        };
      }),
    save: async (secrets) =>
      writeSecretFile(path, updateSecretFile(await contentOf(path), path, secrets)),
  };
}
