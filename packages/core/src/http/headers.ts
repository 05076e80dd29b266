import { WebhookError } from '../outcome/webhook-error.ts';

/** Request headers as fetch has them, or as Node has them (a plain record). */
export type HeadersLike =
  Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How the three headers are named: a prefix (`X-Service`), or each name by itself. */
export type HeaderPrefix = string | { id: string; timestamp: string; signature: string };

/** The three header names, in lower case. */
export interface HeaderNames {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** The three header values, well-formed but not yet verified. */
export interface SignatureHeaders {
  readonly webhookId: string;
  /** Unix seconds, as the text that was signed. */
  readonly timestamp: string;
  /** Canonical base64, without `v1,`. */
  readonly signature: string;
}

export const DEFAULT_PREFIX = 'X-Service';

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// No dot in an id: the signed text `id.timestamp.body` can then be read in one way only.
// No comma and no space: joined duplicates of a header are refused.
const NOT_IN_ID = /[^\x21-\x2b\x2d\x2f-\x7e]/;
const MAX_ID_LENGTH = 256;
const isWebhookId = (text: string) =>
  text !== '' && text.length <= MAX_ID_LENGTH && !NOT_IN_ID.test(text);
const TIMESTAMP = /^[1-9][0-9]{0,11}$/;
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/** Whether an honest sender could have written these two. */
export const isSendable = (webhookId: string, timestamp: string): boolean =>
  isWebhookId(webhookId) && TIMESTAMP.test(timestamp);

/**
 * The names of the three headers (spec, "Authentication").
 * @throws WebhookError `invalid-options` when a name can't be a header name
 */
export function headerNames(prefix: HeaderPrefix = DEFAULT_PREFIX): HeaderNames {
  return prefix === DEFAULT_PREFIX ? (defaultNames ??= lowerNames(prefix)) : lowerNames(prefix);
}

let defaultNames: HeaderNames | undefined;

function lowerNames(prefix: HeaderPrefix): HeaderNames {
  const cased = casedHeaderNames(prefix);
  return {
    id: cased.id.toLowerCase(),
    timestamp: cased.timestamp.toLowerCase(),
    signature: cased.signature.toLowerCase(),
  };
}

/** The same names as the sender writes them. */
export function casedHeaderNames(prefix: HeaderPrefix = DEFAULT_PREFIX): HeaderNames {
  const names =
    typeof prefix === 'string'
      ? {
          id: `${prefix}-Webhook-Id`,
          timestamp: `${prefix}-Timestamp`,
          signature: `${prefix}-Signature`,
        }
      : { id: prefix.id, timestamp: prefix.timestamp, signature: prefix.signature };
  for (const name of Object.values(names) as unknown[]) {
    if (typeof name !== 'string' || !TOKEN.test(name)) {
      throw new WebhookError(
        'invalid-options',
        'headerPrefix makes a header name that HTTP does not allow. Use a prefix such as "X-Service".',
      );
    }
  }
  return names;
}

/**
 * Reads and checks the three headers.
 * @throws WebhookError `missing-header`, or `malformed-header` for anything that an honest sender
 *   would not write: duplicates, lists, odd numbers, non-canonical base64
 */
export function readSignatureHeaders(headers: HeadersLike, names: HeaderNames): SignatureHeaders {
  const webhookId = readHeader(headers, names.id);
  const timestamp = readHeader(headers, names.timestamp);
  const signature = readHeader(headers, names.signature);
  if (!isWebhookId(webhookId)) throw malformed(names.id, 'one id of visible ASCII characters');
  if (!TIMESTAMP.test(timestamp)) throw malformed(names.timestamp, 'Unix seconds in plain digits');
  if (!SIGNATURE.test(signature))
    throw malformed(names.signature, '"v1," and 44 characters of base64');
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
  throw malformed(name, 'one value');
}

/** One header's value, whatever the case of its name in a plain record. */
export function headerValue(
  headers: HeadersLike,
  name: string,
): string | readonly string[] | null | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name);
  const record = headers as Record<string, string | readonly string[] | undefined>;
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (value !== undefined) return value;
  for (const key in record) {
    // The length first: nearly no other name has it, and to lower one costs more than to look.
    if (key.length === name.length && key.toLowerCase() === name && Object.hasOwn(record, key))
      return record[key];
  }
  return undefined;
}

const malformed = (name: string, expected: string) =>
  new WebhookError(
    'malformed-header',
    `The ${name} header is not what the service sends: ${expected}.`,
  );
