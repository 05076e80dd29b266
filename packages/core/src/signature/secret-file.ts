import { WebhookError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import { splitSecrets } from './secrets.ts';

/** The environment variables of signing secrets. */
export const CALLS_VARIABLE = 'CALL_WEBHOOK_SECRET';
export const RECORDING_VARIABLE = 'RECORDING_WEBHOOK_SECRET';

/** A secret in a file. */
export interface FileSecret {
  readonly secret: string;
  /** The action that the secret belongs to, if the file says so. */
  readonly actionId?: string;
  /** When the secret stops being valid, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The environment variable that holds the secret, if the file has variables. */
  readonly variable?: string;
}

/** A line of a secret file. */
export interface SecretLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  readonly secrets: readonly FileSecret[];
  /** Why the line cannot be used: it has no secret, or a time that cannot be read. */
  readonly problem?: 'no-secret' | 'no-time';
}

// A base64 text may end in `=`.
const ASSIGNMENT = /^(?:export\s+)?(?!whsec_)([A-Za-z_]\w*)=/;
const OURS = new RegExp(`^(?:export\\s+)?(?:${CALLS_VARIABLE}|${RECORDING_VARIABLE})=`);
const SECRET = /^whsec_[^\s"'#]+$/;

/** Whether a line sets an environment variable. */
export const isAssignment = (line: string): boolean => ASSIGNMENT.test(line.trim());

/**
 * Reads the lines of a secret file: one secret per line, or several that are separated by commas. A
 * comment starts with `#`: `# action <id>` names the action of a secret, and `# until <time>` says when
 * an old one ends. Lines of an `.env` file are accepted; if it sets our variables, all others are
 * ignored.
 */
export function secretLines(content: string): SecretLine[] {
  const texts = content.replace(/^\uFEFF/, '').split('\n');
  const isEnvFile = texts.some((text) => OURS.test(text.trim()));
  return texts.map((text, at): SecretLine => {
    const line = text.trim();
    const own = { text, number: at + 1 };
    const isForeign = isEnvFile && ASSIGNMENT.test(line) && !OURS.test(line);
    if (line === '' || line.startsWith('#') || isForeign) return { ...own, secrets: [] };
    return { ...own, ...secretsIn(line) };
  });
}

function secretsIn(line: string): Pick<SecretLine, 'secrets' | 'problem'> {
  const variable = ASSIGNMENT.exec(line)?.[1];
  const [value = '', comment = ''] = line.replace(ASSIGNMENT, '').split(/\s*#(.*)/);
  const texts = splitSecrets(value.replace(/^(["']?)(.*)\1$/, '$2'));
  // A variable may be empty.
  const isEmpty = texts.length === 0 && variable === undefined;
  if (isEmpty || !texts.every((one) => SECRET.test(one)))
    return { secrets: [], problem: 'no-secret' };
  const actionId = /\baction\s+([^\s,;]+)/.exec(comment)?.[1];
  const [until, end = ''] = /\buntil\b[\s:]*(\S*)/.exec(comment) ?? [];
  const expiresAt = until === undefined ? undefined : isoTime(end);
  if (until !== undefined && expiresAt === undefined) return { secrets: [], problem: 'no-time' };
  return {
    secrets: texts.map((secret) => ({
      secret,
      ...(actionId !== undefined && { actionId }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(variable !== undefined && { variable }),
    })),
  };
}

/**
 * Reads a secret file, such as one that `call-webhooks rotate --secret-out` writes, and returns the
 * secrets that are valid at the time `now`. The file has one secret per line, or several that are
 * separated by commas. A comment starts with `#`. A secret with a comment `# until <time>` (ISO 8601;
 * UTC if it has no zone) is left out from that time on. The lines of an `.env` file are accepted as
 * well: if it sets `CALL_WEBHOOK_SECRET` or `RECORDING_WEBHOOK_SECRET`, all other variables are
 * ignored.
 *
 * @param content the text of the file
 * @param now milliseconds since the epoch; `Date.now()` by default
 * @returns at least one secret, in the order of the file
 * @throws WebhookError `invalid-secret` if a line is not a secret, if a time cannot be read, or if no
 *   secret is valid. The message names the line, and never contains a secret.
 * @example
 * const hook = callWebhooks({
 *   // Read again every five minutes, and whenever no known secret matches.
 *   secret: async () => parseSecretFile(await readFile('/run/secrets/webhooks', 'utf8')),
 * });
 */
export function parseSecretFile(content: string, now: number = Date.now()): string[] {
  const lines = secretLines(content);
  const bad = lines.find(({ problem }) => problem !== undefined);
  if (bad) {
    const message =
      bad.problem === 'no-time'
        ? 'has a comment "until", but not with a time in ISO 8601 after it, such as 2026-01-31T12:00Z.'
        : 'is not a signing secret. Put one whsec_… secret on each line. A comment starts with #.';
    throw new WebhookError(
      'invalid-secret',
      `Line ${String(bad.number)} of the secret file ${message}`,
    );
  }
  const all = lines.flatMap(({ secrets }) => secrets);
  const valid = all.filter(({ expiresAt = Infinity }) => expiresAt > now);
  if (valid.length > 0) return valid.map(({ secret }) => secret);
  throw new WebhookError(
    'invalid-secret',
    all.length === 0
      ? 'There is no secret in the secret file. Put one whsec_… secret on each line.'
      : 'Every secret in the secret file has expired. Add the current secret.',
  );
}
