import { systemClock, type Clock } from './clock.ts';
import { ConfigurationError } from './errors.ts';

/** The second argument of `fetch`, as the client passes it. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** The part of `fetch` that the client uses. The global `fetch` has this type, and so does undici's. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** The argument of `onRequest`. It contains no token. */
export interface RequestNotice {
  readonly method: string;
  /**
   * The URL of the request. Do not log it: the query may contain personal data, and that of a redirect
   * may be a signature.
   */
  readonly url: string;
  /** The number of the attempt, counted from 1; 2 is the first retry. */
  readonly attempt: number;
  /** The number of redirects that led to this request. */
  readonly redirects: number;
  /** Whether this request carries the API token. It does not after a redirect to another origin. */
  readonly authenticated: boolean;
}

/**
 * How many retries the client makes, and how long it waits between them. All times are in milliseconds.
 */
export interface RetryOptions {
  /** The maximum number of retries after the first attempt: 0 (no retries) to 100, by default 3. */
  readonly limit?: number | undefined;
  /**
   * The first backoff, in milliseconds; 500 by default. It doubles with each retry, and half of it is
   * random.
   */
  readonly baseDelay?: number | undefined;
  /** The longest backoff, in milliseconds; 20,000 by default. */
  readonly maxDelay?: number | undefined;
  /**
   * The longest `Retry-After` that the client waits for, in milliseconds; 60,000 by default. If the
   * service asks for more, the ApiError is thrown at once.
   */
  readonly maxRetryAfter?: number | undefined;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /**
   * The `{base_url}` of the spec, with or without `/v1`. Plain `http://` is accepted only for loopback
   * hosts, unless `allowInsecure` is set. `undefined`, as from an unset environment variable, compiles,
   * and makes `createClient` throw.
   */
  readonly baseUrl: string | URL | undefined;
  /**
   * The API token, or a function that returns it, which is called before every attempt. The token is
   * sent only to the origin of `baseUrl`. `undefined`, as from an unset environment variable, compiles,
   * and makes `createClient` throw.
   */
  readonly apiToken: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * The function that sends requests; the global `fetch` by default. It must support `redirect:
   * 'manual'`, or it may send the token to other origins, and the body of its responses must be a web
   * stream, so node-fetch cannot be used.
   */
  readonly fetch?: Fetch | undefined;
  /**
   * The longest wait for the response headers, and for more of the body, in milliseconds; 30,000 by
   * default. To limit a whole call, pass it `AbortSignal.timeout(…)` as `signal`.
   */
  readonly timeout?: number | undefined;
  /**
   * The retries of a request. A number sets `limit` alone. GET requests are retried; writes are retried
   * only if nothing can have been sent.
   */
  readonly retries?: number | RetryOptions | undefined;
  /** The `User-Agent` header; `call-webhooks-client/<version>` by default. */
  readonly userAgent?: string | undefined;
  /**
   * Called, and awaited, before every request, including redirects and retries. An error that it throws
   * fails the call.
   */
  readonly onRequest?: ((notice: RequestNotice) => unknown) | undefined;
  /**
   * Whether plain http to hosts other than loopback is allowed, which exposes the token to the network;
   * `false` by default.
   */
  readonly allowInsecure?: boolean | undefined;
  /** Names that the spec does not show. Their defaults are guesses. */
  readonly wire?: { readonly [Name in keyof WireNames]?: WireNames[Name] | undefined } | undefined;
  /** The source of time; the clock of the machine by default. */
  readonly clock?: Clock | undefined;
}

/** The webhook action that `client.rules.addWebhook` creates. */
export interface WebhookInput {
  /** The URL to which deliveries are sent: http or https. */
  readonly url: string;
  /** A custom payload, which is sent instead of the event's own body; none by default. */
  readonly payload?: unknown;
}

/** Names that the spec does not show. Every default is a guess: set what your service uses. */
export interface WireNames {
  /** The query parameter for a page's cursor; `next` by default. */
  readonly nextParam: string;
  /**
   * The field of a response that holds the next cursor, or a URL with it. A path with dots leads into
   * objects, such as `paging.next`. Defaults to `next`.
   */
  readonly nextField: string;
  /** The field that says whether there are more pages; may be a path. Defaults to `hasNext`. */
  readonly hasNextField: string;
  /** The query parameter for the page size. Defaults to `limit`. */
  readonly limitParam: string;
  /** The field that holds the call records of `GET /v1/calls`; may be a path. Defaults to `results`. */
  readonly callsField: string;
  /**
   * The field that holds the signing secret in the response to a write; may be a path, such as
   * `action.secret`. By default, the only new `whsec_` string in the response is used.
   */
  readonly secretField: string | undefined;
  /** The response header that identifies a request. Defaults to `x-request-id`. */
  readonly requestIdHeader: string;
  /**
   * Creates the body of `POST /v1/rules/{id}/actions`. Defaults to
   * `({ url, payload }) => ({ type: 'webhook', url, payload })`.
   */
  readonly webhookAction: (input: WebhookInput) => unknown;
}

/** The default of each name. All of them are guesses. */
export const defaultWireNames: WireNames = {
  nextParam: 'next',
  nextField: 'next',
  hasNextField: 'hasNext',
  limitParam: 'limit',
  callsField: 'results',
  secretField: undefined,
  requestIdHeader: 'x-request-id',
  webhookAction: ({ url, payload }) => ({
    type: 'webhook',
    url,
    ...(payload === undefined ? {} : { payload }),
  }),
};

/** The checked `retries`. */
export type Retry = { readonly [Name in keyof RetryOptions]-?: number };

/** The checked options, with defaults filled in. */
export interface Settings {
  readonly allowInsecure: boolean;
  readonly fetch: Fetch;
  readonly timeout: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly baseUrl: URL;
  readonly readToken: () => Promise<string>;
  readonly retry: Retry;
  readonly onRequest: ClientOptions['onRequest'];
  readonly wire: WireNames;
}

/** The version of this package, as in the default user agent. */
export const version = '0.1.0';

// The longest delay that setTimeout supports. A longer one would fire at once.
const longestTimer = 2_147_483_647;

function whole(name: string, value: number, minimum: number, maximum = longestTimer): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new ConfigurationError(`${name} must be a whole number from ${minimum} to ${maximum}`);
}

function resolveRetry(retries: ClientOptions['retries'] = {}): Retry {
  const given = typeof retries === 'number' ? { limit: retries } : retries;
  const { limit = 3, baseDelay = 500, maxDelay = 20_000, maxRetryAfter = 60_000 } = given;
  return {
    limit: whole('retries.limit', limit, 0, 100),
    baseDelay: whole('retries.baseDelay', baseDelay, 0),
    maxDelay: whole('retries.maxDelay', maxDelay, 0),
    maxRetryAfter: whole('retries.maxRetryAfter', maxRetryAfter, 0),
  };
}

// The error of fetch for an invalid header quotes the token, so an invalid token is refused here.
function checkToken(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigurationError(
    token === undefined || token === ''
      ? 'apiToken is missing. Is its environment variable set?'
      : 'apiToken must be a string of visible ASCII characters',
  );
}

function tokenReader(apiToken: ClientOptions['apiToken']): () => Promise<string> {
  if (typeof apiToken === 'function') return async () => checkToken(await apiToken());
  const token = checkToken(apiToken);
  return () => Promise.resolve(token);
}

/** Checks the options and fills in the defaults. @throws {ConfigurationError} */
export function resolveSettings(options: ClientOptions): Settings {
  const { allowInsecure = false, fetch, timeout = 30_000, onRequest } = options;
  const { userAgent = `call-webhooks-client/${version}`, clock = systemClock } = options;
  if (fetch !== undefined && typeof fetch !== 'function')
    throw new ConfigurationError('fetch must be a function, such as the global fetch');
  if (!/^[\x20-\x7e]+$/.test(userAgent))
    throw new ConfigurationError('userAgent must be a non-empty line of ASCII text');
  const wire = Object.entries(options.wire ?? {}).filter(([, value]) => value !== undefined);
  return {
    baseUrl: parseBaseUrl(options.baseUrl, allowInsecure),
    allowInsecure,
    readToken: tokenReader(options.apiToken),
    // Looked up for each call, and called without a receiver, as browsers and Workers require.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout: whole('timeout', timeout, 1),
    retry: resolveRetry(options.retries),
    userAgent,
    onRequest,
    wire: { ...defaultWireNames, ...Object.fromEntries(wire) },
    clock,
  };
}

/**
 * Whether the host of a URL is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. Names such as
 * `app.localhost` do not count, because some resolvers look them up in the network.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  if (host === 'localhost' || host === '[::1]') return true;
  // The URL parser has turned 127.1 and 0x7f000001 into four decimal parts already.
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Whether data may be sent to a URL: https, or plain http to loopback, or to any host if that is
 * allowed.
 */
export function isSafeTransport(url: URL, allowInsecure: boolean): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (allowInsecure || isLoopback(url));
}

/** Checks the base URL, and removes trailing slashes, and `/v1`, which each endpoint adds. */
export function parseBaseUrl(baseUrl: string | URL | undefined, allowInsecure: boolean): URL {
  const refuse = (why: string): ConfigurationError => new ConfigurationError(`baseUrl ${why}`);
  if (baseUrl === undefined || baseUrl === '')
    throw refuse('is missing. Is its environment variable set?');
  if (!URL.canParse(String(baseUrl)))
    throw refuse('must be an absolute URL, such as https://api.example.com');
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') throw refuse('must not hold credentials');
  if (url.search !== '' || url.hash !== '') throw refuse('must not have a query or a fragment');
  if (!/^https?:$/.test(url.protocol)) throw refuse('must be an https URL');
  if (!isSafeTransport(url, allowInsecure))
    throw refuse(
      'is plain http, which exposes the API token to the network. Use https, or set allowInsecure: true',
    );
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}
