import { existsSync } from 'node:fs';
import {
  CALLS_VARIABLE,
  type FileSecret,
  isAssignment,
  RECORDING_VARIABLE,
  type SecretLine,
  secretLines,
  secretTexts,
} from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { badInput, environmentError } from '../errors.ts';
import type { Io } from '../io.ts';
import { readText } from './read.ts';

/** The flags that name a signing secret. */
export interface SecretOptions {
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
}

/** Signing secrets, by what they belong to. */
interface GivenSecrets {
  /** Of the call actions: the current ones first. */
  readonly calls: readonly string[];
  /** Of the recording webhook. */
  readonly recording: readonly string[];
}

/** Adds `--secret` and `--secret-file`. */
export const withSecretOptions = (command: Command): Command =>
  command
    .option('--secret <whsec>', `the signing secret; $${CALLS_VARIABLE} or a file is safer`)
    .option(
      '--secret-file <file>',
      'a file with one signing secret per line, the current one first',
    );

/**
 * The given secrets, from the flag, the file or the environment, in this order. Each may be a list.
 * @throws CliError 2 and 3
 * @throws WebhookError `invalid-secret`
 */
export async function secretsByOwner(io: Io, options: SecretOptions): Promise<GivenSecrets> {
  if (options.secret !== undefined && options.secretFile !== undefined)
    throw badInput('--secret and --secret-file cannot be combined.', 'Remove one of them.');
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

/**
 * Reads the secrets of a file, also those that have expired.
 * @throws CliError 2 that names the line, but not its content
 */
export function parseSecretFile(content: string, path: string): FileSecret[] {
  const found = secretsOf(content, path);
  if (found.length === 0)
    throw badInput(`There is no secret in ${path}.`, 'Put one whsec_… secret on each line.');
  return found;
}

/** As {@link parseSecretFile}, but there may be none. */
export const secretsOf = (content: string, path: string): FileSecret[] =>
  linesOf(content, path).flatMap(({ secrets }) => secrets);

/** Each line as it is, with its secrets. */
function linesOf(content: string, path: string): readonly SecretLine[] {
  const lines = secretLines(content);
  const bad = lines.find(({ problem }) => problem !== undefined);
  if (!bad) return lines;
  const where = `Line ${String(bad.number)} of ${path}`;
  throw bad.problem === 'no-time'
    ? badInput(
        `${where} has no valid time after "until".`,
        'Write a time in ISO 8601 after "until", such as 2026-01-31T12:00Z, or remove the word.',
      )
    : badInput(
        `${where} is not a signing secret.`,
        'Put one whsec_… secret on each line. Comments start with #.',
      );
}

/** A line of a secret file. @param note for people */
function lineOf({ secret, actionId, expiresAt }: FileSecret, note = ''): string {
  const words = [
    note,
    actionId !== undefined && !/\baction\s/.test(note) && `action ${actionId}`,
    expiresAt !== undefined && `until ${new Date(expiresAt).toISOString()}`,
  ].filter(Boolean);
  return words.length > 0 ? `${secret} # ${words.join(' ')}` : secret;
}

/** The content of a new secret file. @param secrets may each have a note for people */
export const formatSecretFile = (
  secrets: readonly (FileSecret & { readonly note?: string | undefined })[],
): string => secrets.map((one) => `${lineOf(one, one.note)}\n`).join('');

/**
 * Changes the secrets of a file to those that are given: new ones come first, ends and actions are
 * noted, and the others are removed. Every other line stays as it is.
 * @throws CliError 2
 */
export function updateSecretFile(
  content: string,
  path: string,
  wanted: readonly FileSecret[],
): string {
  const lines = linesOf(content, path);
  const known = new Set(lines.flatMap(({ secrets }) => secrets.map(({ secret }) => secret)));
  // The note of an action also fits its new secret.
  const noteFor = (actionId: string | undefined) => {
    const line = lines.find(({ secrets }) =>
      secrets.some((one) => {
        const { actionId: owner } = wanted.find(({ secret }) => secret === one.secret) ?? one;
        return actionId !== undefined && owner === actionId;
      }),
    );
    return line && noteOf(line.text);
  };
  const updated = lines.flatMap(({ text, secrets }) => {
    const now = secrets.map((one) => wanted.find(({ secret }) => secret === one.secret));
    const isSame = secrets.every(
      (one, at) => now[at]?.actionId === one.actionId && now[at]?.expiresAt === one.expiresAt,
    );
    return isSame && !now.includes(undefined)
      ? [text]
      : now.flatMap((one) => (one ? [lineOf(one, noteOf(text))] : []));
  });
  const added = wanted
    .filter(({ secret }) => !known.has(secret))
    .map((one) => ({ ...one, note: noteFor(one.actionId) }));
  return formatSecretFile(added) + updated.join('\n');
}

/** What a comment says besides the end of a secret. */
const noteOf = (text: string): string | undefined =>
  /#\s*(.*)/
    .exec(text)?.[1]
    ?.replace(/\s*\buntil\b[\s:]*\S+/, '')
    .trim();

/** The content of a secret file, or nothing if there is none. @throws CliError 3 */
export const contentOf = async (path: string): Promise<string> =>
  existsSync(path) ? readText(path, 'secret file') : '';

/**
 * Refuses to replace an `.env` file: its variables would be lost.
 * @throws CliError 2
 */
export async function checkReplaceable(path: string): Promise<void> {
  const content = await contentOf(path);
  if (content.split(/\r?\n/).some(isAssignment))
    throw badInput(
      `${path} contains variables, which --secret-out would remove.`,
      'Pass a separate file, such as --secret-out .secret, and read it with --secret-file.',
    );
}

/**
 * Replaces a secret file in one step. Only its owner may read it.
 * @throws CliError 3
 */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const { replaceFile } = await import('@call-webhooks/client');
  await replaceFile(path, content).catch((error: unknown) => {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw environmentError(
      `Cannot write the secret file ${path}: ${code}.`,
      'Check that its directory exists and is writable.',
    );
  });
}
