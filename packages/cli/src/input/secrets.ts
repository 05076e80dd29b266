import type { Command } from 'commander';
import { badInput } from '../cli-error.ts';
import type { Io } from '../io.ts';
import { secretsOfFile } from './secret-file.ts';

/** Where a signing secret may come from. */
export interface SecretOptions {
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
}

export const SECRET_VARIABLE = 'CALL_WEBHOOK_SECRET';

/** Adds `--secret` and `--secret-file`. */
export const withSecretOptions = (command: Command): Command =>
  command
    .option('--secret <whsec>', `signing secret (better: $${SECRET_VARIABLE}, or a file)`)
    .option('--secret-file <file>', 'file with one signing secret a line, the current one first');

/** The secrets that were given: by flag, file or environment, in this order; none is an empty list. */
export async function secretsGiven(io: Io, options: SecretOptions): Promise<string[]> {
  if (options.secret !== undefined && options.secretFile !== undefined)
    throw badInput('--secret and --secret-file exclude each other.');
  if (options.secret !== undefined) return [options.secret];
  if (options.secretFile !== undefined) return secretsOfFile(options.secretFile);
  const fromEnvironment = io.env[SECRET_VARIABLE];
  return fromEnvironment === undefined || fromEnvironment === '' ? [] : [fromEnvironment];
}

/** The same, and at least one. @throws CliError 2 that says where to put it */
export async function secretsNeeded(
  io: Io,
  options: SecretOptions,
  ask?: () => Promise<string>,
): Promise<[string, ...string[]]> {
  const [first, ...more] = await secretsGiven(io, options);
  if (first !== undefined) return [first, ...more];
  if (ask) return [await ask()];
  throw badInput(
    'There is no signing secret.',
    `Set ${SECRET_VARIABLE}, or pass --secret-file FILE or --secret whsec_….`,
  );
}
