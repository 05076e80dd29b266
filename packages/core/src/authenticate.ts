import { equalText, hmacBase64 } from '@call-webhooks/core/hmac';
import {
  readSignatureHeaders,
  type HeaderNames,
  type HeadersLike,
  type SignatureHeaders,
} from './headers.ts';
import type { Key } from './key-ring.ts';
import type { SecretSource } from './secret-source.ts';
import { checkTimestamp } from './timestamp.ts';
import { WebhookError } from './webhook-error.ts';

/** What a delivery has to prove, and against what. */
export interface AuthenticationRules {
  readonly names: HeaderNames;
  readonly toleranceSeconds: number;
  readonly secrets: SecretSource;
}

/** A delivery that is from the service, and as the service sent it. */
export interface Authentic extends SignatureHeaders {
  readonly secretId: string;
}

/**
 * Headers, timestamp, HMAC: the receiver's side of the spec's "Signature computation".
 * @throws WebhookError `missing-header`, `malformed-header`, `timestamp-out-of-tolerance`,
 *   `signature-mismatch`, `secret-unavailable`
 */
export async function authenticate(
  headers: HeadersLike,
  body: Uint8Array,
  now: number,
  rules: AuthenticationRules,
): Promise<Authentic> {
  const read = readSignatureHeaders(headers, rules.names);
  checkTimestamp(read.timestamp, now, rules.toleranceSeconds);

  const cached = rules.secrets.keys(read.webhookId);
  const keys = isList(cached) ? cached : await cached;
  let key = await matchingKey(keys, read, body);
  if (!key) {
    const newer = await rules.secrets.refresh(read.webhookId, keys);
    if (newer) key = await matchingKey(newer, read, body);
  }
  if (!key) throw mismatch(keys);
  return { ...read, secretId: key.id };
}

async function matchingKey(
  keys: readonly Key[],
  read: SignatureHeaders,
  body: Uint8Array,
): Promise<Key | undefined> {
  const head = `${read.webhookId}.${read.timestamp}.`;
  for (const key of keys) {
    const computed = hmacBase64(key.hmac, head, body);
    // The texts are compared, not what they decode to: base64 has several spellings of one value.
    if (equalText(typeof computed === 'string' ? computed : await computed, read.signature))
      return key;
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
