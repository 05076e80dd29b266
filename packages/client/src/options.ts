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

/** The part of `fetch` that the client uses. The global `fetch` fits, and so does undici's. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** The argument of `onRequest`. It holds no token. */
export interface RequestNotice {
  readonly method: string;
  /** Do not log it: the query may name people, and that of a redirect may be a signature. */
  readonly url: string;
  /** 1 for the first attempt, 2 for the first retry, and so on. */
  readonly attempt: number;
  /** How many redirects led here. */
  readonly redirects: number;
  /** Whether this request carries the API token: false after a redirect to another origin. */
  readonly authenticated: boolean;
}

/** How often to retry, and how long to wait. All times are in milliseconds. */
export interface RetryOptions {
  /** Attempts after the first one. 0 turns retries off. Defaults to 3. */
  readonly limit?: number;
  /** The first backoff. It doubles with each retry, and half of it is random. Defaults to 500. */
  readonly baseDelay?: number;
  /** The longest backoff. Defaults to 20,000. */
  readonly maxDelay?: number;
  /** If `Retry-After` asks for more, the ApiError is thrown at once. Defaults to 60,000. */
  readonly maxRetryAfter?: number;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /**
   * The `{base_url}` of the spec: `https://…`, with a path if there is one. A `/v1` at its end is taken
   * off. Plain `http://` is accepted for loopback hosts only, unless `allowInsecure` is set.
   */
  readonly baseUrl: string | URL;
  /**
   * The API token, or a function that returns it and is called before every attempt. The token is
   * sent as `X-API-Token`, to the origin of `baseUrl` only.
   */
  readonly apiToken: string | (() => string | Promise<string>);
  /**
   * Defaults to the global `fetch`. Another one must support `redirect: 'manual'`, or it may send the
   * token to other origins. The body of its responses must be a web stream: node-fetch does not fit.
   */
  readonly fetch?: Fetch;
  /**
   * The longest wait for the headers, or for more of the body, in milliseconds. Defaults to 30,000.
   * To limit a whole call, pass it `AbortSignal.timeout(…)`.
   */
  readonly timeout?: number;
  /** A number sets the `limit`. GETs are retried; writes only if nothing can have been sent. */
  readonly retries?: number | RetryOptions;
  /** The `User-Agent` header. Defaults to `call-webhooks-client/<version>`. */
  readonly userAgent?: string;
  /**
   * Called before every request, including redirects and retries, and awaited. If it throws or
   * rejects, the call fails with that error.
   */
  readonly onRequest?: (notice: RequestNotice) => unknown;
  /** Allows plain http to other hosts than loopback, which exposes the token. Defaults to false. */
  readonly allowInsecure?: boolean;
  /** How many redirects to follow. Defaults to 5. */
  readonly maxRedirects?: number;
  /**
   * The largest JSON response, in bytes. Recordings are not limited. Defaults to 33,554,432 (32 MiB).
   */
  readonly bodyLimit?: number;
  /** Names that the spec does not show. The defaults are guesses. */
  readonly wire?: Partial<WireNames>;
  /** The source of time. Defaults to the clock of the machine. */
  readonly clock?: Clock;
  /** The source of jitter, from 0 up to but not including 1. Defaults to `Math.random`. */
  readonly random?: () => number;
}

/** The webhook action that `client.rules.addWebhook` creates. */
export interface WebhookInput {
  /** Where deliveries are sent: an http or https URL. */
  readonly url: string;
  /** A custom payload, sent instead of the event's own body. No `eventName` is added to it. */
  readonly payload?: unknown;
}

/** Names that the spec does not show. Every default is a guess: set what your service uses. */
export interface WireNames {
  /** The query parameter for a page's cursor. Defaults to `next`. */
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
   * `action.secret`. By default the only new `whsec_` text of the response is taken.
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

/** The checked options, with defaults filled in. */
export interface Settings {
  readonly baseUrl: URL;
  readonly allowInsecure: boolean;
  readonly readToken: () => Promise<string>;
  readonly fetch: Fetch;
  /** Whether `fetch` is not the global one. */
  readonly ownFetch: boolean;
  readonly timeout: number;
  readonly retry: Required<RetryOptions>;
  readonly maxRedirects: number;
  readonly bodyLimit: number;
  readonly userAgent: string;
  readonly onRequest: ClientOptions['onRequest'];
  readonly wire: WireNames;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The version of this package, as in the default user agent. */
export const version = '0.1.0';

// The longest delay that setTimeout supports. A longer one would fire at once.
const longestTimer = 2_147_483_647;

function whole(name: string, value: number, minimum: number, maximum = longestTimer): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new ConfigurationError(`${name} must be a whole number from ${minimum} to ${maximum}`);
}

function resolveRetry(retries: ClientOptions['retries']): Required<RetryOptions> {
  const given = typeof retries === 'number' ? { limit: retries } : (retries ?? {});
  return {
    limit: whole('retries.limit', given.limit ?? 3, 0, 100),
    baseDelay: whole('retries.baseDelay', given.baseDelay ?? 500, 0),
    maxDelay: whole('retries.maxDelay', given.maxDelay ?? 20_000, 0),
    maxRetryAfter: whole('retries.maxRetryAfter', given.maxRetryAfter ?? 60_000, 0),
  };
}

// The error of fetch for an invalid header quotes the token, so an invalid token is refused here.
function checkToken(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigurationError(
    token === undefined || token === ''
      ? 'apiToken is missing. Is the environment variable set that it is read from?'
      : 'apiToken must be a string of visible ASCII characters',
  );
}

function tokenReader(apiToken: ClientOptions['apiToken']): () => Promise<string> {
  if (typeof apiToken === 'function') return async () => checkToken(await apiToken());
  const token = checkToken(apiToken);
  return () => Promise.resolve(token);
}

function resolveWire(names: Partial<WireNames> | undefined): WireNames {
  const given = Object.entries(names ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaultWireNames, ...Object.fromEntries(given) };
}

function resolveFetch(given: unknown): Fetch {
  // Looked up for each call, and called without a receiver, as browsers and Workers require.
  if (given === undefined) return (url, init) => globalThis.fetch(url, init);
  if (typeof given === 'function') return given as Fetch;
  throw new ConfigurationError('fetch must be a function, such as the global fetch');
}

function checkUserAgent(value: string): string {
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  throw new ConfigurationError('userAgent must be a non-empty line of ASCII text');
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws {ConfigurationError} if an option is invalid, with the reason
 */
export function resolveSettings(options: ClientOptions): Settings {
  const allowInsecure = options.allowInsecure ?? false;
  return {
    baseUrl: parseBaseUrl(options.baseUrl, allowInsecure),
    allowInsecure,
    readToken: tokenReader(options.apiToken),
    fetch: resolveFetch(options.fetch),
    ownFetch: options.fetch !== undefined,
    timeout: whole('timeout', options.timeout ?? 30_000, 1),
    retry: resolveRetry(options.retries),
    maxRedirects: whole('maxRedirects', options.maxRedirects ?? 5, 0, 20),
    bodyLimit: whole('bodyLimit', options.bodyLimit ?? 33_554_432, 1),
    userAgent: checkUserAgent(options.userAgent ?? `call-webhooks-client/${version}`),
    onRequest: options.onRequest,
    wire: resolveWire(options.wire),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
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

/** Whether data may be sent to a URL: https, or plain http to loopback or if it was allowed. */
export function isSafeTransport(url: URL, allowInsecure: boolean): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (allowInsecure || isLoopback(url));
}

/**
 * Parses the configured base URL and removes trailing slashes, and `/v1`, which each endpoint adds.
 *
 * @throws {ConfigurationError} if it is not an absolute http(s) URL, if it has credentials, a query
 * or a fragment, or if the token would be sent over plain http
 */
export function parseBaseUrl(baseUrl: string | URL, allowInsecure: boolean): URL {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ConfigurationError(
      'baseUrl must be an absolute URL, such as https://api.example.com',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError('baseUrl must not hold credentials');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ConfigurationError('baseUrl must not have a query or a fragment');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError('baseUrl must be an https URL');
  }
  if (!isSafeTransport(url, allowInsecure)) {
    throw new ConfigurationError(
      'baseUrl is plain http, which exposes the API token to the network. Use https, or set allowInsecure: true',
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}
