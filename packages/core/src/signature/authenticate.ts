import { equalText, hmacBase64 } from '#hmac';
import {
  readSignatureHeaders,
  type HeaderNames,
  type HeadersLike,
  type SignatureHeaders,
} from '../http/headers.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Key } from './key-ring.ts';
import type { SecretSource } from './secret-source.ts';
import { checkTimestamp } from './timestamp.ts';

/** What a delivery has to prove, and against what. */
export interface AuthenticationRules {
  readonly names: HeaderNames;
  readonly toleranceSeconds: number;
  readonly secrets: SecretSource;
}

/** A delivery that is from the service, and as the service sent it. */
export interface Authentic {
  readonly webhookId: string;
  /** When it was signed; Unix seconds. */
  readonly timestamp: number;
  readonly secretId: string;
}

/**
 * Headers, timestamp, HMAC: the receiver's side of the spec's "Signature computation".
 *
 * It gives no promise where nothing has to be waited for: keys that are there, a synchronous HMAC.
 * @throws WebhookError `missing-header`, `malformed-header`, `timestamp-out-of-tolerance`,
 *   `signature-mismatch`, `secret-unavailable`
 */
export function authenticate(
  headers: HeadersLike,
  body: Uint8Array,
  now: number,
  rules: AuthenticationRules,
): Authentic | Promise<Authentic> {
  const read = readSignatureHeaders(headers, rules.names);
  const timestamp = checkTimestamp(read.timestamp, now, rules.toleranceSeconds);
  const keys = rules.secrets.keys(read.webhookId);
  const key = isList(keys) ? matchingKey(keys, read, body) : undefined;
  if (key === undefined || key instanceof Promise)
    return authenticateLater(read, timestamp, body, rules, keys, key);
  return { webhookId: read.webhookId, timestamp, secretId: key.id };
}

async function authenticateLater(
  read: SignatureHeaders,
  timestamp: number,
  body: Uint8Array,
  { secrets }: AuthenticationRules,
  keysInTime: ReturnType<SecretSource['keys']>,
  tried: Promise<Key | undefined> | undefined,
): Promise<Authentic> {
  const keys = await keysInTime;
  let key = await (isList(keysInTime) ? tried : matchingKey(keys, read, body));
  if (!key) {
    const newer = await secrets.refresh(read.webhookId, keys);
    if (newer) key = await matchingKey(newer, read, body);
  }
  if (!key) throw mismatch(keys);
  return { webhookId: read.webhookId, timestamp, secretId: key.id };
}

function matchingKey(
  keys: readonly Key[],
  read: SignatureHeaders,
  body: Uint8Array,
): Key | undefined | Promise<Key | undefined> {
  const head = `${read.webhookId}.${read.timestamp}.`;
  for (const key of keys) {
    const computed = hmacBase64(key.hmac, head, body);
    // The texts are compared, not what they decode to: base64 has several spellings of one value.
    if (typeof computed === 'string') {
      if (equalText(computed, read.signature)) return key;
    } else {
      return computed.then((text) =>
        equalText(text, read.signature)
          ? key
          : matchingKey(keys.slice(keys.indexOf(key) + 1), read, body),
      );
    }
  }
  return undefined;
}

function mismatch(keys: readonly Key[]): WebhookError {
  const ids = keys.map((key) => key.id).join(', ');
  return new WebhookError(
    'signature-mismatch',
    `The signature was made with none of the secrets (${ids}). Is it the secret of this very webhook action, was it rotated, does a proxy or body parser change the body?`,
  );
}

const isList = (keys: readonly Key[] | Promise<readonly Key[]>): keys is readonly Key[] =>
  Array.isArray(keys);
