import { brand, ClientError, hide } from './client-error.ts';

/** The status as a word. The spec shows no error codes of the service, so these are our own. */
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
  | 'unexpected-status';

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
  readonly serviceCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: unknown;
}

/**
 * The service answered with a status other than 2xx, and retries (where allowed) did not help. The
 * spec shows neither statuses nor bodies of REST errors, so `serviceCode`, `requestId` and `body`
 * may be undefined.
 */
export class ApiError extends ClientError {
  static {
    brand(this, 'ApiError');
  }

  /** The status as a word, such as `'unauthorized'` or `'rate-limited'`. */
  readonly code: ApiErrorCode;
  /** The HTTP status. */
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
   * in time. Not printed, because it may name people.
   */
  declare readonly body: unknown;

  constructor(details: ApiErrorDetails) {
    super(`${details.method} ${details.path} was answered with status ${details.status}`);
    this.code = codeOf(details.status);
    this.status = details.status;
    this.method = details.method;
    this.path = details.path;
    this.serviceCode = details.serviceCode;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    hide(this, 'body', details.body);
  }
}
