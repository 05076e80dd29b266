import { invalidOptions, WebhookError } from '../errors.ts';
import { type HeadersLike, headerValue } from '../http/request.ts';

/**
 * The names of the three signature headers: a prefix, such as `'X-Service'`, or the name of each
 * header.
 */
export type HeaderPrefix = string | { id: string; timestamp: string; signature: string };

export type HeaderNames = Readonly<Exclude<HeaderPrefix, string>>;

/** The values of the three headers: well-formed, but not verified yet. */
export interface SignatureHeaders {
  readonly webhookId: string;
  /** Unix seconds, as the text that was signed. */
  readonly timestamp: string;
  /** Canonical base64, without `v1,`. */
  readonly signature: string;
}

const DEFAULT_PREFIX = 'X-Service';
const DEFAULT_NAMES = {
  id: 'x-service-webhook-id',
  timestamp: 'x-service-timestamp',
  signature: 'x-service-signature',
};

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// An id has no dot, so that the signed text `id.timestamp.body` has only one reading. It has no
// comma and no space, so that joined duplicates of a header are refused.
const NOT_IN_ID = /[^\x21-\x2b\x2d\x2f-\x7e]/;
const MAX_ID_LENGTH = 256;
/** Whether a receiver would accept this webhook id. */
export const isWebhookId = (text: string): boolean =>
  text !== '' && text.length <= MAX_ID_LENGTH && !NOT_IN_ID.test(text);
const TIMESTAMP = /^[1-9][0-9]{0,11}$/;
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/** Whether a receiver would accept this timestamp. */
export const isTimestamp = (text: string): boolean => TIMESTAMP.test(text);

/**
 * Returns the names of the three headers in lower case (spec, "Authentication").
 * @throws WebhookError `invalid-options` for a prefix that does not make a valid header name
 */
export function headerNames(prefix?: HeaderPrefix): HeaderNames {
  if (prefix === undefined) return DEFAULT_NAMES;
  const { id, timestamp, signature } = casedHeaderNames(prefix);
  return {
    id: id.toLowerCase(),
    timestamp: timestamp.toLowerCase(),
    signature: signature.toLowerCase(),
  };
}

/** Returns the names of the three headers in the case that the sender uses. */
export function casedHeaderNames(prefix?: HeaderPrefix): HeaderNames {
  const text = prefix ?? DEFAULT_PREFIX;
  const { id, timestamp, signature } =
    typeof text === 'object'
      ? text
      : {
          id: `${text}-Webhook-Id`,
          timestamp: `${text}-Timestamp`,
          signature: `${text}-Signature`,
        };
  if (![id, timestamp, signature].every((name) => typeof name === 'string' && TOKEN.test(name)))
    throw invalidOptions(
      'headerPrefix makes an invalid HTTP header name. Use a prefix such as "X-Service".',
    );
  return { id, timestamp, signature };
}

/**
 * Reads the three headers and checks their format.
 * @throws WebhookError `missing-header`, or `malformed-header` for anything that the service would
 *   not send: duplicates, lists, odd numbers, non-canonical base64
 */
export function readSignatureHeaders(headers: HeadersLike, names: HeaderNames): SignatureHeaders {
  const webhookId = readHeader(headers, names.id);
  const timestamp = readHeader(headers, names.timestamp);
  const signature = readHeader(headers, names.signature);
  if (!isWebhookId(webhookId))
    throw malformed(
      names.id,
      'one id of 1 to 256 visible ASCII characters without dot, comma or space',
    );
  if (!isTimestamp(timestamp)) throw malformed(names.timestamp, 'Unix seconds in plain digits');
  if (!SIGNATURE.test(signature))
    throw malformed(names.signature, '"v1," followed by 44 characters of base64');
  return { webhookId, timestamp, signature: signature.slice(3) };
}

function readHeader(headers: HeadersLike, name: string): string {
  const value = headerValue(headers, name);
  if (value === undefined || value === null || value === '') {
    throw new WebhookError(
      'missing-header',
      `The request has no ${name} header. Webhook actions saved before signing was introduced send none: recreate the action to give it a secret.`,
    );
  }
  if (typeof value === 'string') return value;
  if (value.length === 1 && typeof value[0] === 'string') return value[0];
  throw malformed(name, 'a single value');
}

const malformed = (name: string, expected: string) =>
  new WebhookError('malformed-header', `The ${name} header is malformed. Expected ${expected}.`);
