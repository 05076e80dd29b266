import { prepareKey } from '#platform';
import { WebhookError } from '../errors.ts';
import type { HmacKey } from '../platform/platform.ts';

const PREFIX = 'whsec_';
const MIN_BYTES = 16;
const FIX = 'Copy the whole secret from where the webhook action was created or rotated.';
const ONLY =
  'Leave only whsec_ and the base64 after it, without quotation marks or the name of a variable, and separate several by commas.';

// Not `\s`: a no-break space or a byte order mark is named instead, since nobody sees it.
const SEPARATORS = /[ \t\r\n\f\v,]+/;

/** A signing secret, `whsec_…`, with a name that may be logged. */
export interface NamedSecret {
  readonly id: string;
  readonly secret: string;
}

/**
 * One secret, or all that are valid now: one for each action, or old and new during a rotation. A text
 * may hold several, separated by commas, white space or lines. `undefined` in a list is a secret that
 * is missing.
 */
export type Secret = string | NamedSecret | readonly (string | NamedSecret | undefined)[];

/** A secret that is prepared for verifying. */
export interface Key {
  readonly id: string;
  readonly hmac: HmacKey;
}

/** Where the receiver gets its keys from. */
export interface KeySource {
  /** The keys that are valid now. Rejects with `secret-unavailable`. */
  current(webhookId: string): Promise<readonly Key[]>;
  /** Newer keys than those that were `tried`, or `undefined` if there can be none. */
  refresh(webhookId: string, tried: readonly Key[]): Promise<readonly Key[] | undefined>;
  /** Why no key matched, if the reason is not the keys. */
  mismatch?: string | undefined;
  /** Whether a delivery matched one of them since the start; `undefined`: nobody knows. */
  hasVerified?: boolean | undefined;
}

/** How many prepared keys are kept. */
const MAX_CACHED = 64;
const keyCache = new Map<string, HmacKey>();

/**
 * Decodes secrets and prepares their keys. The same text is prepared only once in a process. A
 * secret without a name is called `secret-1`, `secret-2` and so on, by its position.
 * @throws WebhookError `invalid-secret`
 */
export function keysOf(secret: unknown): readonly Key[] {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (list.length === 0)
    throw new WebhookError('invalid-secret', 'The list of signing secrets is empty.');
  const found = list.flatMap((item, index) =>
    namedTexts(item, list.length > 1 ? ` at position ${String(index + 1)} of the list` : ''),
  );
  return found.map(({ id, text }, index) => ({
    id: id ?? `secret-${String(index + 1)}`,
    hmac: keyOf(text),
  }));
}

/** The secrets of one item of a list. @param where ends "The signing secret …" in messages */
function namedTexts(item: unknown, where: string): { id?: string; text: string }[] {
  if (typeof item !== 'object' || item === null)
    return secretTexts(item, where).map((text) => ({ text }));
  const { id, secret } = item as Partial<NamedSecret>;
  if (typeof id !== 'string' || id === '') {
    throw new WebhookError(
      'invalid-secret',
      'A named secret is { id, secret }, where id is a non-empty string for the logs.',
    );
  }
  const texts = secretTexts(secret, where);
  return texts.map((text, index) => ({
    id: texts.length > 1 ? `${id}-${String(index + 1)}` : id,
    text,
  }));
}

/** Whether a secret, or one of a list, is an unset or empty variable. */
export const isSecretMissing = (secret: unknown): boolean =>
  (Array.isArray(secret) ? (secret as unknown[]) : [secret]).some((item) => {
    const text: unknown =
      typeof item === 'object' && item !== null ? (item as Partial<NamedSecret>).secret : item;
    return text === undefined || (typeof text === 'string' && splitSecrets(text).length === 0);
  });

/** @throws WebhookError `invalid-secret` */
export function fixedKeys(secret: Secret): KeySource {
  const keys = Promise.resolve(keysOf(secret));
  return { current: () => keys, refresh: () => Promise.resolve(undefined) };
}

function keyOf(text: string): HmacKey {
  const cached = keyCache.get(text);
  if (cached) return cached;
  const key = prepareKey(secretBytes(text));
  // Bounded, in case a provider returns a new secret on each call.
  if (keyCache.size >= MAX_CACHED) keyCache.clear();
  keyCache.set(text, key);
  return key;
}

/** @param text one secret that `secretTexts` returned */
function secretBytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text.slice(PREFIX.length)), (char) => char.charCodeAt(0));
}

/**
 * A new random secret, `whsec_…`, for tests and simulated services.
 * @param bytes the number of random bytes, 16 to 1,024; 24 by default
 * @throws WebhookError `invalid-secret` for a size outside that range
 */
export function generateSecret(bytes = 24): string {
  if (!Number.isInteger(bytes) || bytes < MIN_BYTES || bytes > 1024) {
    throw new WebhookError(
      'invalid-secret',
      `A secret must have ${String(MIN_BYTES)} to 1024 bytes, not ${String(bytes)}.`,
    );
  }
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))));
}

/**
 * The secrets in a text, checked: base64 after `whsec_` (spec, "Authentication").
 * @param where ends "The signing secret …" in messages
 * @throws WebhookError `invalid-secret`. The message never contains a secret.
 */
export function secretTexts(text: unknown, where = ''): string[] {
  if (text === undefined) throw invalid(where, 'is undefined. Is the environment variable set?');
  if (typeof text !== 'string')
    throw invalid(where, `is not a string but ${text === null ? 'null' : typeof text}.`);
  const texts = splitSecrets(text);
  if (texts.length === 0) throw invalid(where, 'is empty. Is the environment variable set?');
  for (const [index, one] of texts.entries()) {
    const which = texts.length > 1 ? ` (number ${String(index + 1)} in its text)` : '';
    const around = whatIsAround(one);
    if (around !== undefined) throw invalid(where + which, around, ONLY);
    const problem = problemWith(one);
    if (problem !== undefined) throw invalid(where + which, problem);
  }
  return texts;
}

/** @param text one secret, or several that are separated by commas, white space or lines */
export const splitSecrets = (text: string): string[] =>
  text.split(SEPARATORS).filter((one) => one !== '');

/** What was copied together with a secret. */
function whatIsAround(text: string): string | undefined {
  const other = /[^\w+/=-]/u.exec(text)?.[0];
  if (other !== undefined) {
    const code = (other.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
    const shown = /[!-~]/.test(other) ? ` (${other})` : '';
    return `has the character U+${code}${shown} around or in it.`;
  }
  return text.indexOf(PREFIX) > 0 ? `has something in front of ${PREFIX}.` : undefined;
}

function problemWith(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `does not start with ${PREFIX}.`;
  const base64 = text.slice(PREFIX.length);
  if (base64 === '') return `has nothing after ${PREFIX}.`;
  if (base64.includes(PREFIX))
    return 'is followed by another one. Separate them by a comma or white space.';
  if (/^[\w-]+={0,2}$/.test(base64) && /[-_]/.test(base64))
    return `is base64url after ${PREFIX}, not base64: it has - or _ in place of + or /.`;
  const unpadded = base64.replace(/=+$/, '').length;
  const padding = base64.length - unpadded;
  const isWhole = padding <= 2 && unpadded % 4 !== 1 && (padding === 0 || base64.length % 4 === 0);
  if (!isWhole || base64.slice(0, unpadded).includes('='))
    return `is not base64 after ${PREFIX}. It looks truncated.`;
  const bytes = Math.floor((unpadded * 3) / 4);
  if (bytes >= MIN_BYTES) return undefined;
  return `is too short: it has ${String(bytes)} bytes and needs at least ${String(MIN_BYTES)}.`;
}

const invalid = (where: string, problem: string, fix = FIX) =>
  new WebhookError('invalid-secret', `The signing secret${where} ${problem} ${fix}`);
