import { secretTexts } from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { badInput } from '../errors.ts';
import type { Io } from '../io.ts';
import { readText } from './read.ts';
import { CALLS_VARIABLE, parseSecretFile, RECORDING_VARIABLE } from './secret-file.ts';

/** The flags that name a signing secret. */
export interface SecretOptions {
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
}

/** Signing secrets, by what they belong to. */
export interface GivenSecrets {
  /** Of the call actions: the current ones first. */
  readonly calls: readonly string[];
  /** Of the recording webhook. */
  readonly recording: readonly string[];
}

/** Adds `--secret` and `--secret-file`. */
export const withSecretOptions = (command: Command): Command =>
  command
    .option('--secret <whsec>', `the signing secret; safer: $${CALLS_VARIABLE} or a file`)
    .option('--secret-file <file>', 'a file with one signing secret per line, the current first');

/**
 * The given secrets, from the flag, the file or the environment, in this order. Each may be a list.
 * @throws CliError 2 and 3
 * @throws WebhookError `invalid-secret`
 */
export async function secretsByOwner(io: Io, options: SecretOptions): Promise<GivenSecrets> {
  if (options.secret !== undefined && options.secretFile !== undefined)
    throw badInput('--secret and --secret-file exclude each other.', 'Remove one of them.');
  if (options.secret !== undefined) return { calls: secretTexts(options.secret), recording: [] };
  if (options.secretFile !== undefined) return secretsOfFile(options.secretFile);
  const read = (name: string) => {
    const value = io.env[name];
    return value === undefined || value === '' ? [] : secretTexts(value, ` in ${name}`);
  };
  return { calls: read(CALLS_VARIABLE), recording: read(RECORDING_VARIABLE) };
}

/** As {@link secretsByOwner}, in one list: those of the call actions first. */
export async function givenSecrets(io: Io, options: SecretOptions): Promise<string[]> {
  const { calls, recording } = await secretsByOwner(io, options);
  return [...calls, ...recording];
}

/** As {@link givenSecrets}, but at least one. @throws CliError 2 when there is none */
export async function requiredSecrets(
  io: Io,
  options: SecretOptions,
  ask?: () => Promise<string>,
): Promise<[string, ...string[]]> {
  const [first, ...more] = await givenSecrets(io, options);
  if (first !== undefined) return [first, ...more];
  if (ask) return [await ask()];
  throw badInput(
    'No signing secret is given.',
    `Set ${CALLS_VARIABLE}, or pass --secret-file FILE or --secret whsec_….`,
  );
}

async function secretsOfFile(path: string): Promise<GivenSecrets> {
  const now = Date.now();
  const valid = parseSecretFile(await readText(path, 'secret file'), path).filter(
    ({ expiresAt = Infinity }) => expiresAt > now,
  );
  const isRecording = ({ variable }: { variable?: string }) => variable === RECORDING_VARIABLE;
  const textsOf = (list: typeof valid) => list.map(({ secret }) => secret);
  return {
    calls: textsOf(valid.filter((one) => !isRecording(one))),
    recording: textsOf(valid.filter(isRecording)),
  };
}
