import { sign, WebhookError, type SignOptions } from '@call-webhooks/core';

/**
 * The secret that events are signed with where neither the option `secret` nor the environment
 * variable `CALL_WEBHOOK_SECRET` is set. For tests only: everybody knows it.
 */
export const TEST_SECRET = 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u';

/** An event, any other payload that JSON can hold, or the exact body as text or bytes. */
export type EventInput = object | string | Uint8Array;

/** How a delivery is signed. */
export interface SigningOptions extends Pick<
  SignOptions,
  'webhookId' | 'timestamp' | 'headerPrefix'
> {
  /** `whsec_…`; `CALL_WEBHOOK_SECRET` of the environment by default, or else `TEST_SECRET`. */
  secret?: string | undefined;
  /** The clock that dates the signature; milliseconds since the epoch, `Date.now` by default. */
  now?: (() => number) | undefined;
  /** Further headers. They replace those of the delivery. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A signed delivery as data, for any framework and any client. */
export interface SignedRequest {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  /** Exactly what was signed. */
  readonly body: string;
  /**
   * A new `Request` of fetch with this body.
   * @param url `'http://localhost/hook'` by default
   */
  readonly toRequest: (url?: string) => Request;
}

/**
 * Signs an event as the service does.
 * @throws WebhookError `invalid-options` if the event is no event, `invalid-secret`
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
  return { headers: { 'content-type': 'application/json', ...signature, ...headers }, body };
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
