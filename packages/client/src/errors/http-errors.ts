import { brand, ClientError } from './client-error.ts';

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

  constructor(request: string, phase: TimeoutPhase, timeout: number) {
    const waited = { token: 'the API token', headers: 'a response', body: 'more of the response' };
    super(`${request}: waited ${timeout} ms for ${waited[phase]}`);
    this.timeout = timeout;
    this.phase = phase;
    this.maybeSent = phase !== 'token';
  }
}

/** A redirect that is not followed: too many, unsafe, of a write, or hidden by the runtime. */
export class RedirectError extends ClientError {
  static {
    brand(this, 'RedirectError');
  }

  /** Always `'redirect'`. */
  readonly code = 'redirect';
  /** The status of the redirect, or 0 where the runtime hides it (a browser). */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * A 2xx response that cannot be used: not JSON, not the expected shape, larger than the limit, or
 * a recording that is not audio. Where a setting of `wire` helps, the message names it.
 */
export class InvalidResponseError extends ClientError {
  static {
    brand(this, 'InvalidResponseError');
  }

  /** Always `'invalid-response'`. */
  readonly code = 'invalid-response';
}
