import type { Clock } from './clock.ts';
import type { WireNames } from './wire.ts';

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
   * token to other origins.
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
