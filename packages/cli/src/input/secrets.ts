import type { Command } from 'commander';
import { badInput } from '../errors.ts';
import type { Io } from '../io.ts';
import { readBytes } from './read.ts';
import { parseSecretFile } from './secret-file.ts';

/** The flags that name a signing secret. */
export interface SecretOptions {
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
}

const SECRET_VARIABLE = 'CALL_WEBHOOK_SECRET';

/** Adds `--secret` and `--secret-file`. */
export const withSecretOptions = (command: Command): Command =>
  command
    .option('--secret <whsec>', `the signing secret; safer: $${SECRET_VARIABLE} or a file`)
    .option('--secret-file <file>', 'a file with one signing secret per line, the current first');

/** The given secrets: from the flag, the file or the environment, in this order. */
export async function givenSecrets(io: Io, options: SecretOptions): Promise<string[]> {
  if (options.secret !== undefined && options.secretFile !== undefined)
    throw badInput('--secret and --secret-file exclude each other.', 'Remove one of them.');
  if (options.secret !== undefined) return [options.secret];
  if (options.secretFile !== undefined) return validSecretsOf(options.secretFile);
  const fromEnvironment = io.env[SECRET_VARIABLE];
  return fromEnvironment === undefined || fromEnvironment === '' ? [] : [fromEnvironment];
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
    `Set ${SECRET_VARIABLE}, or pass --secret-file FILE or --secret whsec_….`,
  );
}

async function validSecretsOf(path: string): Promise<string[]> {
  const content = (await readBytes(path, 'secret file')).toString('utf8');
  const now = Date.now();
  const valid = parseSecretFile(content, path).filter(
    ({ expiresAt = Infinity }) => expiresAt > now,
  );
  return valid.map(({ secret }) => secret);
}
