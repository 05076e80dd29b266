import { existsSync } from 'node:fs';
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
import { readBytes } from '../../input/read.ts';
import { parseSecretFile, writeSecretFile } from '../../input/secret-file.ts';
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

/**
 * How long the old secret stays in the file, in milliseconds: with a tolerance of five minutes
 * either way, no signature verifies for longer.
 */
const OVERLAP_MS = 600_000;

/**
 * Rotates the secret, into a file if there is one.
 * @returns the new secret
 * @throws CliError 3 when it was rotated, but the new secret is not saved or unclear
 */
export async function rotateSecret(
  app: App,
  { rules }: Client,
  { ruleId, actionId }: ActionIds,
  target: SecretTarget,
): Promise<string> {
  const { signal } = app;
  const file = target.secretOut;
  try {
    if (file === undefined)
      return (await rules.rotateSigningSecret(ruleId, actionId, { signal })).secret;
    const request = { ruleId, actionId, overlap: OVERLAP_MS, signal };
    return (await rules.rotateInto(secretFileStore(file), request)).current.secret;
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

/** A secret file as the store of a rotation. */
function secretFileStore(path: string): SecretStore {
  return {
    async load() {
      if (!existsSync(path)) return [];
      const content = (await readBytes(path, 'secret file')).toString('utf8');
      if (content.trim() === '') return [];
      return parseSecretFile(content, path).map((entry, at): StoredSecret => ({
        id: `line-${String(at + 1)}`,
        ...entry,
      }));
    },
    save: (secrets) => writeSecretFile(path, secrets),
  };
}
