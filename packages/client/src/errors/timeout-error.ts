import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/** What was waited for: the token provider, the answer's headers, or the next piece of its body. */
export type TimeoutPhase = 'token' | 'headers' | 'body';

/** Nothing happened for `timeout` milliseconds. */
export class TimeoutError extends ClientError {
  static {
    brand(this, 'TimeoutError');
  }

  /** Always `'timeout'`. */
  readonly code = 'timeout';
  /** The limit that was passed, in milliseconds. */
  readonly timeout: number;
  /** What was waited for. */
  readonly phase: TimeoutPhase;
  /** False when nothing of the request was sent (the token provider was too slow). */
  readonly maybeSent: boolean;

  constructor(request: string, phase: TimeoutPhase, timeout: number) {
    const waited = { token: 'the API token', headers: 'an answer', body: 'more of the answer' };
    super(`${request}: waited ${timeout} ms for ${waited[phase]}`);
    this.timeout = timeout;
    this.phase = phase;
    this.maybeSent = phase !== 'token';
  }
}
