import { createHmac } from 'node:crypto';
import type { Source } from './source.ts';
import type { Expectation, VectorDelivery, VectorResult } from './vector.ts';

/** What a signature is made of, in the order of the signed text. */
export interface Signed {
  readonly webhookId: string;
  readonly timestamp: string;
  readonly body: Buffer;
  /** The bytes of the secret. */
  readonly key: Buffer;
}

type Headers = readonly (readonly [name: string, value: string])[];

/** How an attempt differs from a valid one that is signed as it arrives. */
export interface AttemptChanges {
  /** When it arrives: seconds after the start; 0 by default. */
  readonly arrives?: number;
  /** When it was signed: seconds after the start; as it arrives by default. */
  readonly signed?: number;
  /** The text of the timestamp, instead of `signed`. */
  readonly timestamp?: string;
  /** The name of the webhook id: attempts of the same name have the same id. */
  readonly webhookId?: string;
  readonly secret?: string;
  /** Another value of the signature header. */
  readonly signature?: (signed: Signed) => string;
  /** Changes the headers after signing. */
  readonly headers?: (headers: Headers) => Headers;
  /** The body that is sent, if it is not the one that was signed. */
  readonly sent?: string | Buffer;
}

/** One request, before it is said what is right for it. */
export type Attempt = Omit<VectorDelivery, 'expect'>;

/** The names of the three headers. */
export const HEADERS = {
  id: 'X-Service-Webhook-Id',
  timestamp: 'X-Service-Timestamp',
  signature: 'X-Service-Signature',
} as const;

/** HMAC-SHA256 over the parts. */
export const hmac = (key: Buffer | string, ...parts: (Buffer | string)[]): Buffer => {
  const computed = createHmac('sha256', key);
  for (const part of parts) computed.update(part);
  return computed.digest();
};

/** The HMAC of the interface. */
export const hmacOf = ({ webhookId, timestamp, body, key }: Signed): Buffer =>
  hmac(key, `${webhookId}.${timestamp}.`, body);

/**
 * One signed request.
 * @param name unique for each attempt of all vectors: its webhook id follows from it
 */
export function attempt(
  source: Source,
  name: string,
  body: string | Buffer,
  changes: AttemptChanges = {},
): Attempt {
  const { arrives = 0, signed = arrives, secret = source.secret } = changes;
  const parts: Signed = {
    webhookId: source.uuid(changes.webhookId ?? name),
    timestamp: changes.timestamp ?? String(source.now / 1000 + signed),
    body: Buffer.from(body as string),
    key: Buffer.from(secret.slice('whsec_'.length), 'base64'),
  };
  const sign = changes.signature ?? ((these) => `v1,${hmacOf(these).toString('base64')}`);
  const headers: Headers = [
    [HEADERS.id, parts.webhookId],
    [HEADERS.timestamp, parts.timestamp],
    [HEADERS.signature, sign(parts)],
  ];
  return {
    now: source.now + arrives * 1000,
    method: 'POST',
    headers: changes.headers?.(headers) ?? headers,
    body: bodyOf(Buffer.from((changes.sent ?? parts.body) as string)),
  };
}

function bodyOf(bytes: Buffer): VectorDelivery['body'] {
  const text = bytes.toString();
  const isText = Buffer.from(text).equals(bytes);
  return { base64: bytes.toString('base64'), ...(isText ? { text } : {}) };
}

const ACKNOWLEDGED: Expectation['statuses'] = [[200, 299]];
/** Any that does not acknowledge, but 404 pauses the rule; 410 and 3xx are left out to be safe. */
const NOT_ACKNOWLEDGED: Expectation['statuses'] = [
  [400, 403],
  [405, 409],
  [411, 599],
];

const EXPECTED: { readonly [Result in VectorResult]: Expectation } = {
  accept: { result: 'accept', statuses: ACKNOWLEDGED, effects: 1 },
  reject: { result: 'reject', statuses: NOT_ACKNOWLEDGED, effects: 0 },
  duplicate: { result: 'duplicate', statuses: ACKNOWLEDGED, effects: 0 },
  replay: { result: 'replay', statuses: NOT_ACKNOWLEDGED, effects: 0 },
};

/** The attempt, and what is right for it. */
export const expecting = (result: VectorResult, sent: Attempt): VectorDelivery => ({
  ...sent,
  expect: EXPECTED[result],
});
