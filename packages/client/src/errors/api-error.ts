import { brand } from './brand.ts';
import { ClientError, hide } from './client-error.ts';

/** The status in words. The spec shows no error codes of the service, so these are made here. */
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

/** What an {@link ApiError} is made of. */
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
 * The service answered with a status other than 2xx, and retries (where they are allowed) did not
 * help. The spec shows neither statuses nor bodies of REST errors, so `serviceCode`, `requestId`
 * and `body` are read leniently and may be undefined.
 */
export class ApiError extends ClientError {
  static {
    brand(this, 'ApiError');
  }

  /** The status in words, such as `'unauthorized'` or `'rate-limited'`. */
  readonly code: ApiErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The request's method. */
  readonly method: string;
  /** The request's path, without its query. */
  readonly path: string;
  /** `code`, `error.code` or `error` of a JSON answer, when it is one short word. Unconfirmed. */
  readonly serviceCode: string | undefined;
  /** The answer's request id header, for a support ticket. Unconfirmed, see `wire.requestIdHeader`. */
  readonly requestId: string | undefined;
  /** What `Retry-After` asked for, in whole seconds (rounded up), both of its forms. */
  readonly retryAfter: number | undefined;
  /**
   * The answer, parsed where it is JSON; undefined when it is longer than 64 KiB or does not arrive
   * in time. Not printed: it may name people.
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
