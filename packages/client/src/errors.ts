/**
 * The base class of all errors of this package. Branch on the class or on `code`, which are stable, and
 * never on the message. No error shows the API token, a signing secret, or the query of a URL, which
 * may contain personal data.
 */
export abstract class ClientError extends Error {
  /** A stable code. Each class documents its own values. */
  abstract readonly code: string;
}

/**
 * Why nothing was sent:
 * - `configuration`: an option or an argument is invalid, or `fetch` returned something other than a
 *   Response with a web stream.
 * - `foreign-origin`: a URL is not below the configured base URL. It is not requested.
 * - `unsupported-runtime`: `saveTo` was called where there is no file system (a browser, a Worker).
 */
export type ConfigurationErrorCode = 'configuration' | 'foreign-origin' | 'unsupported-runtime';

/** The problem is on this side: an option, an argument, `fetch` or the runtime. */
export class ConfigurationError extends ClientError {
  readonly code: ConfigurationErrorCode;

  constructor(message: string, code: ConfigurationErrorCode = 'configuration') {
    super(message);
    this.code = code;
  }
}

/** A search that the search language of `GET /v1/events` cannot express. Nothing was sent. */
export class SearchSyntaxError extends ClientError {
  readonly code = 'search-syntax';
  /**
   * The index of the offending character in the parsed text; `undefined` for errors from `searchText`.
   */
  readonly position: number | undefined;

  constructor(message: string, position?: number) {
    super(position === undefined ? message : `${message} (at position ${position})`);
    this.position = position;
  }
}

/**
 * The connection failed, or broke before the response was complete. `cause` is a copy of what `fetch`
 * threw, with its name, message and code, but without the token and the query.
 */
export class NetworkError extends ClientError {
  readonly code = 'network';
  /** Whether the service may have received the request. `false` means that nothing was sent. */
  readonly maybeSent: boolean;

  constructor(message: string, options: { readonly maybeSent: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.maybeSent = options.maybeSent;
  }
}

/** What a timeout waited for: the token function, the response headers, or more of the body. */
export type TimeoutPhase = 'token' | 'headers' | 'body';

/** The client waited longer than the option `timeout` for the next step. */
export class TimeoutError extends ClientError {
  readonly code = 'timeout';
  /** The limit that was exceeded, in milliseconds. */
  readonly timeout: number;
  /** What the client waited for. */
  readonly phase: TimeoutPhase;
  /** `false` if nothing was sent, because the token function was too slow. */
  readonly maybeSent: boolean;

  constructor(request: string, phase: TimeoutPhase, timeout: number, note = '') {
    const waited = { token: 'the API token', headers: 'a response', body: 'more of the response' };
    super(`${request}: waited ${timeout} ms for ${waited[phase]}${note}`);
    this.timeout = timeout;
    this.phase = phase;
    this.maybeSent = phase !== 'token';
  }
}

const codes = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  416: 'range-not-satisfiable',
  429: 'rate-limited',
} as const;

/**
 * What is wrong with a response: its status as a word, or
 * - `redirect`: a redirect that is not followed: too many, unsafe, of a write, or hidden by the
 *   runtime.
 * - `invalid-response`: a 2xx response that cannot be used: not JSON, not the expected shape, larger
 *   than 32 MiB, or a recording that is not audio.
 *
 * The spec shows no error codes of the service, so these are our own.
 */
export type ApiErrorCode =
  | (typeof codes)[keyof typeof codes]
  | 'client-error'
  | 'server-error'
  | 'unexpected-status'
  | 'redirect'
  | 'invalid-response';

function codeOf(status: number): ApiErrorCode {
  if (status >= 500) return 'server-error';
  if (status < 400) return 'unexpected-status';
  return (codes as Readonly<Record<number, ApiErrorCode>>)[status] ?? 'client-error';
}

/** The parts of an {@link ApiError}. */
export interface ApiErrorDetails {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Needed if the status does not say what is wrong. */
  readonly code?: 'redirect' | 'invalid-response';
  /** What is wrong, for the message. */
  readonly problem?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: unknown;
}

/**
 * The service responded, but not with what was requested: with a status other than 2xx (after retries,
 * where they are allowed), a redirect that is not followed, or a response that cannot be used. If a
 * setting of `wire` helps, the message names it.
 */
export class ApiError extends ClientError {
  readonly code: ApiErrorCode;
  /** The HTTP status, or 0 if the runtime hides it (a redirect in a browser). */
  readonly status: number;
  readonly method: string;
  /** The request's path, without its query. */
  readonly path: string;
  /** The response header `wire.requestIdHeader`, to quote in a support ticket. */
  readonly requestId: string | undefined;
  /**
   * The time that `Retry-After` asked for, in whole seconds, rounded up. The header may contain a
   * number or a date.
   */
  readonly retryAfter: number | undefined;
  /**
   * The response body, parsed if it is JSON. It is `undefined` if it is longer than 64 KiB or does not
   * arrive in time, and for `redirect` and `invalid-response`. Loggers do not print it, because it may
   * contain personal data.
   */
  declare readonly body: unknown;

  constructor({ method, path, status, code, problem, ...more }: ApiErrorDetails) {
    const answered = code === undefined ? ` responded with status ${status}` : '';
    super(`${method} ${path}${answered}${problem === undefined ? '' : `: ${problem}`}`);
    this.code = code ?? codeOf(status);
    this.status = status;
    this.method = method;
    this.path = path;
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
    Object.defineProperty(this, 'body', { value: more.body, enumerable: false });
  }
}

/** The writes that return a signing secret. */
export type WriteOperation = 'add-webhook' | 'rotate-signing-secret';

/** A secret that was found in a response, and its place. */
export interface FoundSecret {
  /** Its place in the response, such as `actions.1.signingSecret`. */
  readonly path: string;
  /** The secret. Keep it out of logs. */
  readonly secret: string;
}

/**
 * What happened to the new secret of a write:
 * - `write-unconfirmed`: the write may have happened, but no new secret arrived. `cause` holds the
 *   error behind it, if there is one.
 * - `secret-ambiguous`: the write has happened, and its response holds several new secrets. Choose one
 *   of `secrets`, and set `wire.secretField` so that the next call finds it.
 * - `secret-not-saved`: the secret was rotated, but the store did not save the new one. Call `retry`,
 *   or put `secrets[0]` where your receiver reads it. Until then deliveries fail verification.
 */
export type UnconfirmedWriteCode = 'write-unconfirmed' | 'secret-ambiguous' | 'secret-not-saved';

/**
 * A write has happened, or may have happened, but its new secret is not where it should be. Neither the
 * message, `util.inspect` nor JSON shows a secret.
 */
export class UnconfirmedWriteError extends ClientError {
  readonly code: UnconfirmedWriteCode;
  /** The write whose secret is missing. */
  readonly operation: WriteOperation;
  // Private, so that nothing prints it, not even what shows hidden properties.
  readonly #more: Partial<Pick<UnconfirmedWriteError, 'secrets' | 'response' | 'retry'>>;

  constructor(
    code: UnconfirmedWriteCode,
    operation: WriteOperation,
    message: string,
    more: Partial<Pick<UnconfirmedWriteError, 'secrets' | 'response' | 'retry' | 'cause'>> = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.operation = operation;
    this.#more = more;
  }

  /**
   * The new secret. With `secret-ambiguous`, these are all candidates, one of which is the new secret.
   * Empty if none arrived.
   */
  get secrets(): readonly FoundSecret[] {
    return this.#more.secrets ?? [];
  }

  /** The whole response, if there was one. It may contain the secret. */
  get response(): unknown {
    return this.#more.response;
  }

  /**
   * Saves the secret again, if `code` is `secret-not-saved`. The promise rejects with what the store
   * throws.
   */
  get retry(): (() => Promise<void>) | undefined {
    return this.#more.retry;
  }
}

const nativeHasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `instanceof` work across two copies of this package (ESM and CJS, or two versions): a
 * registered symbol on the prototype decides, not the identity of the class. A class that users
 * derive keeps the native test. Minified bundles still print the real name.
 */
export function brand(type: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`@call-webhooks/client/${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: () => void, value: unknown): boolean {
      if ((this as unknown) !== type) return nativeHasInstance.call(this, value);
      return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true;
    },
  });
}

brand(ClientError, 'ClientError');
brand(ConfigurationError, 'ConfigurationError');
brand(SearchSyntaxError, 'SearchSyntaxError');
brand(NetworkError, 'NetworkError');
brand(TimeoutError, 'TimeoutError');
brand(ApiError, 'ApiError');
brand(UnconfirmedWriteError, 'UnconfirmedWriteError');
