import { LRUCache } from 'lru-cache';
import { hmacBase64, prepareKey } from '#platform';
import { WebhookError } from '../errors.ts';
import { discard } from '../report/hooks.ts';
import { redactName } from '../report/redact.ts';
import type { HmacKey } from '../platform/platform.ts';

const PREFIX = 'whsec_';
const MIN_BYTES = 16;
const FIX = 'Copy the whole secret from where the webhook action was created or rotated.';
const ONLY =
  'Keep only whsec_ and the base64 text after it: remove quotation marks and the name of the variable, for example. Separate several secrets with commas.';

// Not `\s`: a no-break space or a byte order mark is invisible, so the message names it instead.
const SEPARATORS = /[ \t\r\n\f\v,]+/;

/** A signing secret, `whsec_…`, with an id that may be logged. */
export interface NamedSecret {
  /**
   * The name of the secret in log lines, health and the console. Keep it when the secret is rotated. If
   * several secrets have the same id, the fingerprint of each is appended to it. It must not look like a
   * fingerprint (`secret-` and eight hexadecimal digits).
   */
  readonly id: string;
  /**
   * The secret, `whsec_…`. `undefined`, as from an unset environment variable, compiles, and throws
   * `invalid-secret` at start-up.
   */
  readonly secret: string | undefined;
}

/**
 * One signing secret, or all that are valid now: one for each webhook action, or the old and the new
 * one during a rotation. A string may contain several secrets, separated by commas or white space.
 * `undefined` in a list is a missing secret, and throws `invalid-secret` at start-up.
 *
 * A secret without an id is named by its fingerprint, `secret-` and eight hexadecimal digits, from
 * which the secret cannot be computed.
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
  /** When each secret last verified a delivery since the start; absent if this is not recorded. */
  readonly verified?: LastVerified | undefined;
}

/** A provider may give secrets new names at any time. */
const MAX_NOTED = 100;

/** When each secret last verified a delivery since the start. */
export class LastVerified {
  /** By the ids of the secrets, the latest last; milliseconds since the epoch. */
  readonly #times = new Map<string, number>();

  note(id: string, now: number): void {
    this.#times.delete(id);
    this.#times.set(id, now);
    if (this.#times.size <= MAX_NOTED) return;
    const [oldest = ''] = this.#times.keys();
    this.#times.delete(oldest);
  }

  /** @returns such as `crm 3 min ago, old none since the start`; `undefined` if none has verified any */
  told(ids: readonly string[], now: number): string | undefined {
    if (this.#times.size === 0) return undefined;
    const ago = (id: string) => {
      const time = this.#times.get(id);
      return time === undefined ? 'none since the start' : `${shownAge(now - time)} ago`;
    };
    return ids.map((id) => `${id} ${ago(id)}`).join(', ');
  }
}

/** Such as `40 s`, `3 min` or `26 h`. */
function shownAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${String(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${String(minutes)} min` : `${String(Math.round(minutes / 60))} h`;
}

/**
 * The text whose HMAC, with the secret as key, is the fingerprint. It has no dots, so it can never be
 * the signed text of a delivery.
 */
const FINGERPRINT = 'fingerprint of a call-webhooks secret';
const NOTHING = new Uint8Array();

/** What secrets without a name are called. */
const LIKE_A_FINGERPRINT = /^secret-[\da-f]{8}$/;

/** Eight hexadecimal digits that distinguish secrets and reveal nothing about them. */
async function fingerprintOf(hmac: HmacKey): Promise<string> {
  const digest = await hmacBase64(hmac, FINGERPRINT, NOTHING);
  const bytes = Array.from(atob(digest.slice(0, 8)), (char) => char.charCodeAt(0));
  return bytes
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, 8);
}

/** The secrets of one text, prepared. */
class Prepared {
  readonly hmacs: readonly HmacKey[];
  #unnamed: Promise<readonly Key[]> | undefined;

  constructor(texts: readonly string[]) {
    this.hmacs = texts.map((text) => prepareKey(secretBytes(text)));
  }

  /** Computed only when they are needed: some runtimes forbid asynchronous work at import. */
  get unnamed(): Promise<readonly Key[]> {
    return (this.#unnamed ??= this.#named('secret'));
  }

  /**
   * Several secrets under one name are told apart by their fingerprints, which a rotation doesn't change.
   * @param isShared whether other secrets have the same name
   */
  async named(name: string, isShared: boolean): Promise<readonly Key[]> {
    const [hmac] = this.hmacs;
    const isOnly = this.hmacs.length === 1 && !isShared;
    return isOnly && hmac ? [{ id: name, hmac }] : this.#named(name);
  }

  async #named(name: string): Promise<readonly Key[]> {
    const keys: Key[] = [];
    for (const hmac of this.hmacs) keys.push({ id: `${name}-${await fingerprintOf(hmac)}`, hmac });
    return keys;
  }
}

/** By their texts, so that neither a call of `verify` nor an answer of a provider prepares them again. */
const prepared = new LRUCache<string, Prepared>({ max: 64 });

/** Checked secrets. Their keys get their names when they are first asked for. */
type CheckedSecrets = () => Promise<readonly Key[]>;

/**
 * Checks secrets and prepares their keys.
 * @throws WebhookError `invalid-secret`
 */
function checkedSecrets(secret: unknown): CheckedSecrets {
  if (!Array.isArray(secret)) return checkedItem(secret, '');
  const list: readonly unknown[] = secret;
  if (list.length === 0)
    throw new WebhookError('invalid-secret', 'The list of signing secrets is empty.');
  const ids = list.filter(isNamed).map(({ id }) => id);
  const shared = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  const items = list.map((item, index) =>
    checkedItem(
      item,
      list.length > 1 ? ` at position ${String(index + 1)} of the list` : '',
      shared,
    ),
  );
  return async () => {
    const all: Key[] = [];
    for (const keys of items) all.push(...(await keys()));
    return all;
  };
}

/**
 * @param where ends "The signing secret …" in messages
 * @param shared the ids that several secrets of the list have
 */
function checkedItem(
  item: unknown,
  where: string,
  shared: ReadonlySet<unknown> = new Set(),
): CheckedSecrets {
  if (!isNamed(item)) {
    const keys = preparedText(item, where);
    return () => keys.unnamed;
  }
  const { id, secret } = item;
  if (typeof id !== 'string' || id === '') {
    throw new WebhookError(
      'invalid-secret',
      'A named secret must be { id, secret }, where id is a non-empty string that may be logged.',
    );
  }
  if (LIKE_A_FINGERPRINT.test(id)) {
    throw new WebhookError(
      'invalid-secret',
      `A named secret cannot have the id "${id}": secrets without an id are named like this, by their fingerprints. Choose another id.`,
    );
  }
  const keys = preparedText(secret, ` "${redactName(id)}"${where}`);
  return () => keys.named(id, shared.has(id));
}

/** An object with an id or a secret is meant to be a named secret, whatever is missing or wrong. */
const isNamed = (item: unknown): item is { id?: unknown; secret?: unknown } =>
  typeof item === 'object' && item !== null && ('id' in item || 'secret' in item);

function preparedText(text: unknown, where: string): Prepared {
  const known = typeof text === 'string' ? prepared.get(text) : undefined;
  if (known) return known;
  const keys = new Prepared(secretTexts(text, where));
  prepared.set(text as string, keys);
  return keys;
}

/**
 * The keys of secrets. The same text is prepared only once in a process, as long as it is remembered.
 * Rejects with WebhookError `invalid-secret`.
 */
export const keysOf = async (secret: unknown): Promise<readonly Key[]> => checkedSecrets(secret)();

/** Whether a secret, or one of a list, is an unset or empty variable. */
export const isSecretMissing = (secret: unknown): boolean =>
  (Array.isArray(secret) ? (secret as unknown[]) : [secret]).some((item) => {
    const text: unknown = isNamed(item) ? item.secret : item;
    return text === undefined || (typeof text === 'string' && splitSecrets(text).length === 0);
  });

/** @throws WebhookError `invalid-secret` */
export function fixedKeys(secret: unknown): KeySource {
  const current = checkedSecrets(secret);
  let keys: Promise<readonly Key[]> | undefined;
  return { current: () => (keys ??= current()), refresh: () => Promise.resolve(undefined) };
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
  if (typeof text !== 'string') throw notText(text, where);
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
    return `contains the character U+${code}${shown}.`;
  }
  return text.indexOf(PREFIX) > 0 ? `has something in front of ${PREFIX}.` : undefined;
}

function problemWith(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `does not start with ${PREFIX}.`;
  const base64 = text.slice(PREFIX.length);
  if (base64 === '') return `has nothing after ${PREFIX}.`;
  if (base64.includes(PREFIX))
    return 'is followed by another secret. Separate them with a comma or white space.';
  if (/^[\w-]+={0,2}$/.test(base64) && /[-_]/.test(base64))
    return `is base64url after ${PREFIX}, not base64: it has - or _ instead of + or /.`;
  const unpadded = base64.replace(/=+$/, '').length;
  const padding = base64.length - unpadded;
  const isWhole = padding <= 2 && unpadded % 4 !== 1 && (padding === 0 || base64.length % 4 === 0);
  if (!isWhole || base64.slice(0, unpadded).includes('='))
    return `is not base64 after ${PREFIX}. It looks truncated.`;
  const bytes = Math.floor((unpadded * 3) / 4);
  if (bytes >= MIN_BYTES) return undefined;
  return `is too short: it has ${String(bytes)} bytes and needs at least ${String(MIN_BYTES)}.`;
}

/** Values that are passed instead of a secret's text, each with its own fix. */
function notText(value: unknown, where: string): WebhookError {
  if (ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object ArrayBuffer]')
    return invalid(
      where,
      'is bytes, not text.',
      "Pass the text that begins with whsec_. If it was read from a file, read it as text: readFileSync(path, 'utf8').",
    );
  if (typeof (value as { then?: unknown } | null)?.then === 'function') {
    discard(value);
    return invalid(
      where,
      'is a promise, not text.',
      'Await it first, or pass a function as secret that returns it, such as `secret: () => loadSecret()`.',
    );
  }
  if (typeof value === 'function')
    return invalid(
      where,
      'is a function.',
      'Pass one function as secret instead of a list. It may return several secrets.',
    );
  const kind = value === null ? 'null' : `a value of the type ${typeof value}`;
  return invalid(where, `is not a string but ${kind}.`);
}

const invalid = (where: string, problem: string, fix = FIX) =>
  new WebhookError('invalid-secret', `The signing secret${where} ${problem} ${fix}`);
