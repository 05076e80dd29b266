import { sign, WebhookError, type SignOptions } from '@call-webhooks/core';

/**
 * The secret that signs events if neither the option `secret` nor the environment variable
 * `CALL_WEBHOOK_SECRET` is set. It is public: use it in tests only.
 */
export const TEST_SECRET = 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u';

/** An event, any other payload that JSON can represent, or the exact body as text or bytes. */
export type EventInput = object | string | Uint8Array;

/** How a delivery is signed. */
export interface SigningOptions extends Pick<
  SignOptions,
  'webhookId' | 'timestamp' | 'headerPrefix'
> {
  /**
   * The signing secret, `whsec_…`. By default, it is the environment variable `CALL_WEBHOOK_SECRET`, or
   * `TEST_SECRET` if that is not set.
   */
  secret?: string | undefined;
  /**
   * The clock for the time of the signature, in milliseconds since the epoch; `Date.now` by default.
   */
  now?: (() => number) | undefined;
  /** Further headers, which replace those of the delivery; none by default. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A signed delivery as data, for any framework and any HTTP client. */
export interface SignedRequest {
  /** The HTTP method. */
  readonly method: 'POST';
  /** The signature headers, the content type, and the further headers. */
  readonly headers: Record<string, string>;
  /** The body, exactly as it was signed. */
  readonly body: string;
  /**
   * Returns a new fetch `Request` with this delivery.
   * @param url `'http://localhost/hook'` by default
   */
  readonly toRequest: (url?: string) => Request;
}

/**
 * Signs an event as the service does, and returns the request as data.
 * @throws WebhookError `invalid-options` if the event cannot be a body, or `invalid-secret`
 * @example
 * const { method, headers, body, toRequest } = await signedRequest(callCompleted(), { secret });
 * const response = await POST(toRequest());
 */
export async function signedRequest(
  event: object | string,
  options: SigningOptions = {},
): Promise<SignedRequest> {
  const { headers, body } = await signedBytes('signedRequest', event, options);
  return {
    method: 'POST',
    headers,
    body: new TextDecoder().decode(body),
    toRequest: (url = 'http://localhost/hook') => toRequest({ headers, body }, url),
  };
}

/** What every target is given. */
export interface SignedBytes {
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** @param caller the function of ours that was called, for errors */
export async function signedBytes(
  caller: string,
  event: EventInput,
  { secret, now = () => Date.now(), headers, timestamp, ...signing }: SigningOptions,
): Promise<SignedBytes> {
  const body = bytesOf(caller, event);
  const signature = await sign({
    ...signing,
    secret: secret ?? defaultSecret(),
    body,
    timestamp: timestamp ?? Math.floor(now() / 1000),
  });
  const own = { 'content-type': 'application/json', ...signature };
  return { headers: replacing(own, headers), body };
}

/** Names of headers are the same in lower case and in capitals. */
function replacing(
  own: Readonly<Record<string, string>>,
  further: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const replaced = new Set(Object.keys(further).map((name) => name.toLowerCase()));
  const kept = Object.entries(own).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...further };
}

export const toRequest = ({ headers, body }: SignedBytes, url: string): Request =>
  new Request(url, { method: 'POST', headers, body });

const defaultSecret = () => process.env['CALL_WEBHOOK_SECRET'] ?? TEST_SECRET;

function bytesOf(caller: string, event: unknown): Uint8Array<ArrayBuffer> {
  if (event instanceof Uint8Array) return new Uint8Array(event);
  if (typeof event === 'string') return new TextEncoder().encode(event);
  const wrong = (what: string) =>
    new WebhookError(
      'invalid-options',
      `${caller}: the event ${what}. Pass one such as callCompleted().`,
    );
  if (typeof event !== 'object' || event === null) throw wrong(`is ${describe(event)}`);
  if (isPromise(event)) throw wrong('is a promise: await it');
  let json: string | undefined;
  try {
    json = JSON.stringify(event);
  } catch {
    // Reported below.
  }
  if (json === undefined) throw wrong('cannot be written as JSON');
  return new TextEncoder().encode(json);
}

/** `undefined`, `null`, `a function`, `a string`. */
export const describe = (value: unknown): string =>
  value === undefined || value === null ? String(value) : `a ${typeof value}`;

export const isPromise = (value: unknown): boolean =>
  typeof (value as { then?: unknown } | null)?.then === 'function';
