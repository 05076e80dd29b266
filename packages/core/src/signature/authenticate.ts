import { equalText, hmacBase64 } from '#hmac';
import type { HeadersLike } from '../http/request.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Profile } from '../profile.ts';
import type { Key, KeySource } from './secrets.ts';
import {
  readSignatureHeaders,
  type HeaderNames,
  type SignatureHeaders,
} from './signature-headers.ts';

/** Seconds on either side of the receiver's clock (spec, "Limits"). */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** Webhook ids are remembered for at least this long; milliseconds (spec, "Limits"). */
const MIN_REPLAY_MEMORY_MS = 300_000;

/** What a delivery is verified against. */
export interface AuthenticationRules {
  readonly names: HeaderNames;
  readonly profile: Profile | undefined;
  readonly toleranceSeconds: number;
  readonly keys: KeySource;
}

/** What is known about a delivery that was verified. */
export interface Authentic {
  readonly webhookId: string;
  /** When it was signed; Unix seconds. */
  readonly timestamp: number;
  /** Until when its webhook id must be remembered; milliseconds since the epoch. */
  readonly replayUntil: number;
  readonly secretId: string;
}

/**
 * Verifies headers, timestamp and HMAC (spec, "Verification by the receiver"). Returns a promise
 * only if it has to wait for a key or for WebCrypto.
 * @param now milliseconds since the epoch
 * @throws WebhookError `missing-header`, `malformed-header`, `timestamp-out-of-tolerance`,
 *   `signature-mismatch`, `secret-unavailable`
 */
export function authenticate(
  headers: HeadersLike,
  body: Uint8Array,
  now: number,
  rules: AuthenticationRules,
): Authentic | Promise<Authentic> {
  const signed = readSignatureHeaders(headers, rules.names, rules.profile);
  const timestamp = checkTimestamp(signed.timestamp, now, rules.toleranceSeconds);
  const until = replayUntil(timestamp, now, rules.toleranceSeconds);
  const keys = rules.keys.keys(signed.webhookId);
  const key = isList(keys) ? matchingKey(keys, signed, body) : undefined;
  if (key === undefined || key instanceof Promise)
    return awaitKey(signed, body, rules.keys, keys, key).then(({ id }) => ({
      webhookId: signed.webhookId,
      timestamp,
      replayUntil: until,
      secretId: id,
    }));
  return { webhookId: signed.webhookId, timestamp, replayUntil: until, secretId: key.id };
}

/** The key that matches, once the keys or the HMAC are available; asks a provider for newer keys. */
async function awaitKey(
  signed: SignatureHeaders,
  body: Uint8Array,
  source: KeySource,
  pendingKeys: readonly Key[] | Promise<readonly Key[]>,
  tried: Promise<Key | undefined> | undefined,
): Promise<Key> {
  const keys = await pendingKeys;
  let key = await (isList(pendingKeys) ? tried : matchingKey(keys, signed, body));
  if (!key) {
    const newer = await source.refresh(signed.webhookId, keys);
    if (newer) key = await matchingKey(newer, signed, body);
  }
  if (!key) throw mismatch(keys, source);
  return key;
}

function matchingKey(
  keys: readonly Key[],
  signed: SignatureHeaders,
  body: Uint8Array,
): Key | undefined | Promise<Key | undefined> {
  const head = `${signed.webhookId}.${signed.timestamp}.`;
  for (const key of keys) {
    const computed = hmacBase64(key.hmac, head, body);
    if (typeof computed === 'string') {
      if (matches(computed, signed)) return key;
    } else {
      return computed.then((text) =>
        matches(text, signed) ? key : matchingKey(keys.slice(keys.indexOf(key) + 1), signed, body),
      );
    }
  }
  return undefined;
}

/** Compares base64 texts, not the bytes they decode to: base64 has several spellings of one value. */
const matches = (computed: string, { signature, otherSignatures }: SignatureHeaders): boolean =>
  equalText(computed, signature) ||
  (otherSignatures !== undefined && otherSignatures.some((other) => equalText(computed, other)));

function mismatch(keys: readonly Key[], source: KeySource): WebhookError {
  const ids = keys.map((key) => key.id).join(', ');
  return new WebhookError(
    'signature-mismatch',
    source.mismatch ??
      `No configured secret (${ids}) matches this signature. Check that it belongs to this action, was not rotated, and that nothing modifies the body.`,
  );
}

/**
 * Refuses a delivery that was signed too long ago, or too far ahead of the clock.
 * @param timestamp Unix seconds, already checked to be plain digits
 * @param now milliseconds since the epoch
 * @returns Unix seconds
 * @throws WebhookError `timestamp-out-of-tolerance`
 */
export function checkTimestamp(timestamp: string, now: number, toleranceSeconds: number): number {
  const seconds = Number(timestamp);
  const age = Math.floor(now / 1000) - seconds;
  if (Math.abs(age) <= toleranceSeconds) return seconds;
  const side = age > 0 ? 'ago' : 'ahead';
  throw new WebhookError(
    'timestamp-out-of-tolerance',
    `The delivery was signed ${String(Math.abs(age))} s ${side}, which is more than ${String(toleranceSeconds)} s. If all deliveries fail like this, check this machine's clock.`,
  );
}

/**
 * Until when a webhook id must be remembered: for as long as its signature would verify.
 * @param timestamp Unix seconds
 * @param now milliseconds since the epoch
 * @returns milliseconds since the epoch
 */
export function replayUntil(timestamp: number, now: number, toleranceSeconds: number): number {
  // One second more, because `checkTimestamp` reads the clock in whole seconds.
  const verifiesUntil = (timestamp + toleranceSeconds + 1) * 1000;
  return Math.max(verifiesUntil, now + MIN_REPLAY_MEMORY_MS);
}

const isList = (keys: readonly Key[] | Promise<readonly Key[]>): keys is readonly Key[] =>
  Array.isArray(keys);
