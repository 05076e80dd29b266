import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { badInput, environmentError } from '../errors.ts';
import { readBytes } from './read.ts';

/** A secret in a file. */
export interface FileSecret {
  readonly secret: string;
  /** When it stops being valid, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

const LINE =
  /^(?:(?:export\s+)?[A-Z_]+=)?["']?(whsec_[^\s"'#]+)["']?\s*(?:#\s*until\s+(\S+).*|#.*)?$/;
const OURS = /^(?:export\s+)?CALL_WEBHOOK_SECRET=/;
const VARIABLE = /^(?:export\s+)?[A-Za-z_]\w*=/;
const OTHER_VARIABLE = /^(?:export\s+)?(?!whsec_|CALL_WEBHOOK_SECRET=)[A-Za-z_]\w*=/;

/**
 * Parses a secret file: one secret per line, the current one first. A comment starts with `#`; after
 * a rotation, old secrets carry `# until <time>`. Lines of an `.env` file are accepted; next to
 * `CALL_WEBHOOK_SECRET=…`, other variables are ignored.
 * @throws CliError 2 that names the line, but not its content
 */
export function parseSecretFile(content: string, path: string): FileSecret[] {
  const lines = content.split(/\r?\n/).map((line) => line.trim());
  const found: FileSecret[] = [];
  const isEnvFile = lines.some((line) => OURS.test(line));
  for (const [at, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    if (isEnvFile && OTHER_VARIABLE.test(line)) continue;
    const match = LINE.exec(line);
    if (!match?.[1])
      throw badInput(
        `Line ${String(at + 1)} of ${path} is not a signing secret.`,
        'Put one whsec_… secret on each line. Comments start with #.',
      );
    const expiresAt = match[2] === undefined ? NaN : Date.parse(match[2]);
    found.push({ secret: match[1], ...(Number.isFinite(expiresAt) && { expiresAt }) });
  }
  if (found.length === 0)
    throw badInput(`There is no secret in ${path}.`, 'Put one whsec_… secret on each line.');
  return found;
}

/**
 * Refuses to replace an `.env` file: its variables would be lost.
 * @throws CliError 2
 */
export async function checkReplaceable(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const content = (await readBytes(path, 'secret file')).toString('utf8');
  if (content.split(/\r?\n/).some((line) => VARIABLE.test(line.trim())))
    throw badInput(
      `${path} has variables, which --secret-out would remove.`,
      'Pass a file of its own, such as --secret-out .secret, and read it with --secret-file.',
    );
}

/** The content of a secret file. */
export const formatSecretFile = (secrets: readonly FileSecret[]): string =>
  secrets
    .map(({ secret, expiresAt }) =>
      expiresAt === undefined ? secret : `${secret} # until ${new Date(expiresAt).toISOString()}`,
    )
    .map((line) => `${line}\n`)
    .join('');

/**
 * Replaces a secret file in one step. Only its owner may read it.
 * @throws CliError 3
 */
export async function writeSecretFile(path: string, secrets: readonly FileSecret[]): Promise<void> {
  const temporary = `${path}.${String(process.pid)}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(formatSecretFile(secrets));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw environmentError(
      `Cannot write the secret file ${path}: ${code}.`,
      'Check that its directory exists and is writable.',
    );
  }
}
