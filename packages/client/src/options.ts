import type { Clock } from './clock.ts';
import type { WireNames } from './wire.ts';

/** What the client passes to `fetch`. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** The part of `fetch` that is used. The global `fetch` fits, and so does undici's. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** What `onRequest` is told. There is no token in it. */
export interface RequestNotice {
  readonly method: string;
  /** Its query may name people, and that of a redirect's target may be a signature: not for logs. */
  readonly url: string;
  /** 1 for the first try, 2 for the first retry, and so on. */
  readonly attempt: number;
  /** How many redirects led here. */
  readonly redirects: number;
  /** Whether this request carries the API token: false after a redirect to another origin. */
  readonly authenticated: boolean;
}

/** How often and how patiently is tried again. All times are in milliseconds. */
export interface RetryOptions {
  /** Tries after the first one. Default 3; 0 turns retries off. */
  readonly limit?: number;
  /** The first back-off; it doubles with each retry, and half of it is random. Default 500. */
  readonly baseDelay?: number;
  /** The longest back-off. Default 20 000. */
  readonly maxDelay?: number;
  /** A longer `Retry-After` is not waited for: the ApiError is thrown at once. Default 60 000. */
  readonly maxRetryAfter?: number;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /**
   * The `{base_url}` of the spec: `https://…`, optionally with a path, without `/v1`. Plain `http://` is accepted
   * for loopback hosts only, unless `allowInsecure` is set.
   */
  readonly baseUrl: string | URL;
  /**
   * The API token, or a function that returns it; the function is called before every try. The
   * token is sent as `X-API-Token`, to the origin of `baseUrl` alone.
   */
  readonly apiToken: string | (() => string | Promise<string>);
  /** Default: the global `fetch`. It must honour `redirect: 'manual'`, or the token may travel on. */
  readonly fetch?: Fetch;
  /**
   * The longest wait for headers, or for the next piece of a body, in ms. Default 30 000. For a limit
   * of a whole call pass it `AbortSignal.timeout(…)`.
   */
  readonly timeout?: number;
  /** A number is the `limit`. GETs are retried; writes only when nothing can have been sent. */
  readonly retries?: number | RetryOptions;
  /** The `User-Agent` header. Default `call-webhooks-client/<version>`. */
  readonly userAgent?: string;
  /**
   * Called before every request that leaves, redirects and retries included, and waited for when it
   * is asynchronous. What it throws, or rejects with, ends the call.
   */
  readonly onRequest?: (notice: RequestNotice) => unknown;
  /** Allows plain http to hosts other than loopback: the token is then readable on the way. */
  readonly allowInsecure?: boolean;
  /** How many redirects are followed. Default 5. */
  readonly maxRedirects?: number;
  /** The largest JSON answer, in bytes. Default 33 554 432 (32 MiB). Recordings are not limited. */
  readonly bodyLimit?: number;
  /** Names that the spec does not show; the defaults are unconfirmed guesses. */
  readonly wire?: Partial<WireNames>;
  /** The source of time. Default: the machine's clock. */
  readonly clock?: Clock;
  /** The source of jitter, in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}
