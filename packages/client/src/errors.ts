const nativeHasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `instanceof` work across two copies of this package (ESM and CJS, or two versions): a
 * registered symbol on the prototype decides, not the identity of the class. A subclass without a
 * brand of its own keeps the native test.
 */
export function brand(constructor: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`@call-webhooks/client/${name}`);
  Object.defineProperty(constructor.prototype, mark, { value: true });
  // Set here so that minified bundles still print the real name.
  Object.defineProperty(constructor.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  Object.defineProperty(constructor, Symbol.hasInstance, {
    configurable: true,
    value(this: unknown, value: unknown): boolean {
      if (this !== constructor) return nativeHasInstance.call(this as () => void, value);
      return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true;
    },
  });
}

/** Defines a property that `util.inspect`, `JSON.stringify` and spread do not show. */
function hide(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false });
}

/**
 * The base class of every error in this package. Branch on the class or on `code`, never on the
 * message: both are stable. No error prints the API token, a signing secret, or the query of a URL,
 * which may name people.
 */
export abstract class ClientError extends Error {
  static {
    brand(this, 'ClientError');
  }

  /** A stable code. Each class documents its own values. */
  abstract readonly code: string;
}

/**
 * Why nothing was sent:
 * - `configuration`: an option or an argument is invalid, or `fetch` returned something else than a
 *   Response with a web stream.
 * - `foreign-origin`: a URL is not below the configured base URL. It is not requested.
 * - `unsupported-runtime`: `saveTo` was called where there is no file system (a browser, a Worker).
 */
export type ConfigurationErrorCode = 'configuration' | 'foreign-origin' | 'unsupported-runtime';

/** Something on this side is wrong: an option, an argument, `fetch` or the runtime. */
export class ConfigurationError extends ClientError {
  static {
    brand(this, 'ConfigurationError');
  }

  readonly code: ConfigurationErrorCode;

  constructor(message: string, code: ConfigurationErrorCode = 'configuration') {
    super(message);
    this.code = code;
  }
}

/** Why a search is refused. */
export type SearchSyntaxReason =
  | 'duplicate'
  | 'empty'
  | 'unclosed-quote'
  | 'misplaced-quote'
  | 'invalid-character'
  | 'invalid-date'
  | 'unknown-type'
  | 'operator-in-text'
  | 'text-and-subject'
  | 'subject-and-operators'
  | 'unknown-part';

/** A search that the search language of `GET /v1/events` cannot express. Nothing was sent. */
export class SearchSyntaxError extends ClientError {
  static {
    brand(this, 'SearchSyntaxError');
  }

  /** Always `'search-syntax'`. */
  readonly code = 'search-syntax';
  /** What is wrong. */
  readonly reason: SearchSyntaxReason;
  /** Index of the offending character in the parsed text. Undefined for errors of `searchText`. */
  readonly position: number | undefined;

  constructor(reason: SearchSyntaxReason, message: string, position?: number) {
    super(position === undefined ? message : `${message} (at position ${position})`);
    this.reason = reason;
    this.position = position;
  }
}

/**
 * No connection, or one that broke before the response was complete. A body that is shorter or
 * longer than its content length counts too. `cause` is a cleaned copy of what `fetch` threw: name,
 * message and code, without the token and the query.
 */
export class NetworkError extends ClientError {
  static {
    brand(this, 'NetworkError');
  }

  /** Always `'network'`. */
  readonly code = 'network';
  /** False when it is certain that nothing of the request reached the service. */
  readonly maybeSent: boolean;

  constructor(message: string, options: { readonly maybeSent: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.maybeSent = options.maybeSent;
  }
}

/** What a timeout waited for: the token function, the response headers, or more of the body. */
export type TimeoutPhase = 'token' | 'headers' | 'body';

/** Nothing happened for `timeout` milliseconds. */
export class TimeoutError extends ClientError {
  static {
    brand(this, 'TimeoutError');
  }

  /** Always `'timeout'`. */
  readonly code = 'timeout';
  /** The limit, in milliseconds. */
  readonly timeout: number;
  /** What was waited for. */
  readonly phase: TimeoutPhase;
  /** False when nothing of the request was sent, because the token function was too slow. */
  readonly maybeSent: boolean;

  constructor(request: string, phase: TimeoutPhase, timeout: number, note = '') {
    const waited = { token: 'the API token', headers: 'a response', body: 'more of the response' };
    super(`${request}: waited ${timeout} ms for ${waited[phase]}${note}`);
    this.timeout = timeout;
    this.phase = phase;
    this.maybeSent = phase !== 'token';
  }
}

/**
 * What is wrong with a response: its status as a word, or
 * - `redirect`: a redirect that is not followed: too many, unsafe, of a write, or hidden by the
 *   runtime.
 * - `invalid-response`: a 2xx response that cannot be used: not JSON, not the expected shape, larger
 *   than the limit, or a recording that is not audio.
 *
 * The spec shows no error codes of the service, so these are our own.
 */
export type ApiErrorCode =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'range-not-satisfiable'
  | 'rate-limited'
  | 'client-error'
  | 'server-error'
  | 'unexpected-status'
  | 'redirect'
  | 'invalid-response';

const codes: Readonly<Record<number, ApiErrorCode>> = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  416: 'range-not-satisfiable',
  429: 'rate-limited',
};

function codeOf(status: number): ApiErrorCode {
  if (status >= 500) return 'server-error';
  return codes[status] ?? (status >= 400 ? 'client-error' : 'unexpected-status');
}

/** The parts of an {@link ApiError}. */
export interface ApiErrorDetails {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Needed where the status does not say what is wrong. */
  readonly code?: 'redirect' | 'invalid-response';
  /** What is wrong, for the message. */
  readonly problem?: string | undefined;
  readonly serviceCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: unknown;
}

/**
 * The service answered, but not with what was asked for: with another status than 2xx (and retries,
 * where allowed, did not help), a redirect that is not followed, or a response that cannot be used.
 * Where a setting of `wire` helps, the message names it. The spec shows neither statuses nor bodies
 * of REST errors, so `serviceCode`, `requestId` and `body` may be undefined.
 */
export class ApiError extends ClientError {
  static {
    brand(this, 'ApiError');
  }

  /** What is wrong, such as `'unauthorized'`, `'rate-limited'` or `'invalid-response'`. */
  readonly code: ApiErrorCode;
  /** The HTTP status, or 0 where the runtime hides it (a redirect in a browser). */
  readonly status: number;
  /** The request's method. */
  readonly method: string;
  /** The request's path, without its query. */
  readonly path: string;
  /** `code`, `error.code` or `error` of a JSON response, if it is one short word. A guess. */
  readonly serviceCode: string | undefined;
  /** The request id header of the response, for a support ticket. A guess: `wire.requestIdHeader`. */
  readonly requestId: string | undefined;
  /** What `Retry-After` asked for, as a number or a date, in whole seconds (rounded up). */
  readonly retryAfter: number | undefined;
  /**
   * The response body, parsed if it is JSON. Undefined if it is longer than 64 KiB or does not arrive
   * in time, and for `redirect` and `invalid-response`. Not printed, because it may name people.
   */
  declare readonly body: unknown;

  constructor(details: ApiErrorDetails) {
    const { method, path, status, code, problem } = details;
    const answered = code === undefined ? ` responded with status ${status}` : '';
    super(`${method} ${path}${answered}${problem === undefined ? '' : `: ${problem}`}`);
    this.code = code ?? codeOf(status);
    this.status = status;
    this.method = method;
    this.path = path;
    this.serviceCode = details.serviceCode;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    hide(this, 'body', details.body);
  }
}

/** The writes that yield a signing secret. */
export type WriteOperation = 'add-webhook' | 'rotate-signing-secret';

/** A secret of a response, and where it was. */
export interface FoundSecret {
  /** Its place in the response, such as `actions.1.signingSecret`. */
  readonly path: string;
  /** The secret. Keep it out of logs. */
  readonly secret: string;
}

/**
 * What became of the new secret of a write:
 * - `write-unconfirmed`: the write may have happened, but no new secret arrived. The connection broke
 *   or timed out after something was sent, the service answered 5xx or with a redirect that is not
 *   followed, the call was aborted, or the response holds no new `whsec_` text. `cause` holds the
 *   error behind it, if there is one.
 * - `secret-ambiguous`: the write has happened, and its response holds several new secrets. Choose one
 *   of `secrets` yourself, and set `wire.secretField` so that the next call finds it.
 * - `secret-not-saved`: the secret was rotated, but the store did not save the new one. Call `retry`,
 *   or put `secrets[0]` where your receiver reads it. Until then deliveries fail verification, and the
 *   service retries them.
 */
export type UnconfirmedWriteCode = 'write-unconfirmed' | 'secret-ambiguous' | 'secret-not-saved';

/**
 * A write that has happened, or may have, while its new secret is not where it should be. Neither the
 * message, `util.inspect` nor JSON shows a secret.
 */
export class UnconfirmedWriteError extends ClientError {
  static {
    brand(this, 'UnconfirmedWriteError');
  }

  /** What became of the new secret. */
  readonly code: UnconfirmedWriteCode;
  /** Which write it was. */
  readonly operation: WriteOperation;
  // Private, so that nothing prints them, not even what shows hidden properties.
  readonly #secrets: readonly FoundSecret[];
  readonly #response: unknown;
  readonly #retry: (() => Promise<void>) | undefined;

  constructor(
    code: UnconfirmedWriteCode,
    operation: WriteOperation,
    message: string,
    more: {
      readonly secrets?: readonly FoundSecret[];
      readonly response?: unknown;
      readonly retry?: (() => Promise<void>) | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.operation = operation;
    this.#secrets = more.secrets ?? [];
    this.#response = more.response;
    this.#retry = more.retry;
  }

  /** The new secret, or those that may be it. Empty if none arrived. */
  get secrets(): readonly FoundSecret[] {
    return this.#secrets;
  }

  /** The whole response, if there was one. It may hold the secret. */
  get response(): unknown {
    return this.#response;
  }

  /** Saves again, if `code` is `secret-not-saved`. Rejects with what the store throws. */
  get retry(): (() => Promise<void>) | undefined {
    return this.#retry;
  }
}
