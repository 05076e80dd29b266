import { badInput } from '../cli-error.ts';
import { fileBytes } from './read.ts';

/** A secret in a file, and until when it counts (milliseconds since the epoch). */
export interface FiledSecret {
  readonly secret: string;
  readonly expiresAt?: number;
}

const LINE =
  /^(?:(?:export\s+)?[A-Z_]+=)?["']?(whsec_[^\s"'#]+)["']?\s*(?:#\s*until\s+(\S+).*|#.*)?$/;

/**
 * The secrets of a file: one a line, the current one first. Comments begin with `#`; after a
 * rotation the old ones have `# until <time>`. A line of an `.env` file will do as well.
 */
export function parseSecrets(content: string, path: string): FiledSecret[] {
  const lines = content.split(/\r?\n/).map((line) => line.trim());
  const found: FiledSecret[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const match = LINE.exec(line);
    if (!match?.[1])
      throw badInput(
        `Line ${String(at + 1)} of ${path} holds no signing secret.`,
        'Put one whsec_… secret on each line; comments begin with #.',
      );
    const expiresAt = match[2] === undefined ? NaN : Date.parse(match[2]);
    found.push({ secret: match[1], ...(Number.isFinite(expiresAt) && { expiresAt }) });
  }
  if (found.length === 0) throw badInput(`There is no secret in ${path}.`);
  return found;
}

/** The file's text for these secrets. */
export const formatSecrets = (secrets: readonly FiledSecret[]): string =>
  secrets
    .map(({ secret, expiresAt }) =>
      expiresAt === undefined ? secret : `${secret} # until ${new Date(expiresAt).toISOString()}`,
    )
    .map((line) => `${line}\n`)
    .join('');

/** The secrets of a file that still count. @throws CliError */
export async function secretsOfFile(path: string, now = Date.now()): Promise<string[]> {
  const content = (await fileBytes(path, 'secret file')).toString('utf8');
  return parseSecrets(content, path)
    .filter(({ expiresAt = Infinity }) => expiresAt > now)
    .map(({ secret }) => secret);
}
