import { prepareKey } from '#platform';
import { WebhookError } from '../errors.ts';
import type { HmacKey } from '../platform/platform.ts';

/** A signing secret, `whsec_…`, with a name that may be logged. */
export interface NamedSecret {
  readonly id: string;
  readonly secret: string;
}

/** One secret, or all that are valid now: one for each action, or old and new during a rotation. */
export type Secret = string | NamedSecret | readonly (string | NamedSecret)[];

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
}

const PREFIX = 'whsec_';
const MIN_BYTES = 16;
const FIX = 'Copy the whole secret from where the webhook action was created or rotated.';

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
  return list.map((item, index) => {
    if (typeof item !== 'object' || item === null)
      return { id: `secret-${String(index + 1)}`, hmac: keyOf(item) };
    const { id, secret: text } = item as Partial<NamedSecret>;
    if (typeof id !== 'string' || id === '') {
      throw new WebhookError(
        'invalid-secret',
        'A named secret is { id, secret }, where id is a non-empty string for the logs.',
      );
    }
    return { id, hmac: keyOf(text) };
  });
}

/** @throws WebhookError `invalid-secret` */
export function fixedKeys(secret: Secret): KeySource {
  const keys = Promise.resolve(keysOf(secret));
  return { current: () => keys, refresh: () => Promise.resolve(undefined) };
}

function keyOf(text: unknown): HmacKey {
  const cached = typeof text === 'string' ? keyCache.get(text) : undefined;
  if (cached) return cached;
  const key = prepareKey(secretBytes(text));
  // Bounded, in case a provider returns a new secret on each call.
  if (keyCache.size >= MAX_CACHED) keyCache.clear();
  keyCache.set(text as string, key);
  return key;
}

/**
 * The bytes of a signing secret: base64 after `whsec_` (spec, "Authentication").
 * @throws WebhookError `invalid-secret`. The message never contains the secret.
 */
export function secretBytes(text: unknown): Uint8Array {
  const problem = problemWith(text);
  if (problem !== undefined)
    throw new WebhookError('invalid-secret', `The signing secret ${problem} ${FIX}`);
  const binary = atob((text as string).slice(PREFIX.length));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  if (bytes.length < MIN_BYTES) {
    throw new WebhookError(
      'invalid-secret',
      `The signing secret is too short: it has ${String(bytes.length)} bytes and needs at least ${String(MIN_BYTES)}. ${FIX}`,
    );
  }
  return bytes;
}

function problemWith(text: unknown): string | undefined {
  if (text === undefined) return 'is undefined. Is the environment variable set?';
  if (typeof text !== 'string')
    return `is not a string but ${text === null ? 'null' : typeof text}.`;
  if (text === '') return 'is empty. Is the environment variable set?';
  if (text.trim() !== text) return 'has white space around it. Trim it.';
  if (!text.startsWith(PREFIX)) return `does not start with ${PREFIX}.`;
  const base64 = text.slice(PREFIX.length);
  if (base64 === '') return `has nothing after ${PREFIX}.`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return `is not base64 after ${PREFIX}.`;
  const unpadded = base64.replace(/=+$/, '').length;
  const whole = unpadded % 4 !== 1 && (unpadded === base64.length || base64.length % 4 === 0);
  return whole ? undefined : `is not base64 after ${PREFIX}. It looks truncated.`;
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
