import { isPrintable } from '../report/visible.ts';

/** The longest name of a tenant, in UTF-16 units. */
const MAX_LENGTH = 128;

/** Whether a tenant may have this name: 1 to 128 printable characters. */
export const isTenantName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= MAX_LENGTH && isPrintable(name);

/**
 * Returns a key, a group or a webhook id with the name of its tenant in front, as stores get it. Two
 * tenants never share one, whatever their names and keys are. Everything that a store is given already
 * includes the tenant, and so does `QueuedDelivery.key`. A queue needs this function for the
 * `webhookId` of a delivery that has no key.
 * @example tenantKey('acme', 'c1:call:started') // 'tenant:acme:c1:call:started'
 */
export function tenantKey(tenant: string | undefined, key: string): string {
  if (tenant === undefined) return key;
  return `tenant:${withoutColons(tenant)}:${key}`; // the second colon ends the name
}

/** A part of a key, with `%` and `:` encoded: a colon ends it. */
export const withoutColons = (part: string): string =>
  /[%:]/.test(part) ? part.replace(/[%:]/g, encodeURIComponent) : part;

/**
 * A text that every database can store, even in JSON: without NUL and without halves of surrogate
 * pairs.
 */
export const storableText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');

const HASHED = 'sha256:';
/** Keys that every database stores unchanged, even in an index: no NUL, no half of a surrogate pair. */
const READABLE = /^[^\0\p{Surrogate}]{1,256}$/u;

/**
 * Returns the text under which a store or queue keeps a key: the key itself, synchronously, if it can
 * be stored unchanged, so that people can read it; otherwise a promise of its SHA-256. Different keys
 * have different texts.
 * @param readable which keys are kept as they are
 */
export function storableKey(key: string, readable = READABLE): string | Promise<string> {
  return isReadable(key, readable) ? key : sha256(key).then((hash) => HASHED + hash);
}

/**
 * Returns the text under which a store or queue keeps a key, as `storableKey` does, but synchronously.
 * @param hash returns the SHA-256 of the text's UTF-16 (little-endian), in hexadecimal
 */
export const storableKeySync = (key: string, hash: (text: string) => string): string =>
  isReadable(key, READABLE) ? key : HASHED + hash(key);

const isReadable = (key: string, readable: RegExp) => readable.test(key) && !key.startsWith(HASHED);

/**
 * Returns the SHA-256 of a text as 64 hexadecimal digits, on every runtime. The hash is computed from
 * the UTF-16 of the text, so different texts always have different hashes. Use it to turn a key into an
 * id for an engine that allows only few characters in ids.
 */
export async function sha256(text: string): Promise<string> {
  const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  // WebCrypto: Redis stores run on edge runtimes as well.
  const digest = await crypto.subtle.digest('SHA-256', units);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
