import { sleep } from '../clock.ts';
import { ApiError, NetworkError, TimeoutError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';

/** The backoff before retry number `retry` (from 1), in ms: doubling, capped, half of it random. */
export function backoff(settings: Pick<Settings, 'retry' | 'random'>, retry: number): number {
  const { baseDelay, maxDelay } = settings.retry;
  const ceiling = Math.min(maxDelay, baseDelay * 2 ** (retry - 1));
  return Math.round(ceiling * (0.5 + settings.random() / 2));
}

/** Whether an error is a broken or silent connection, so that sending a GET again may help. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof TimeoutError && error.maybeSent);
}

/** Tries until an attempt succeeds, fails for good, or was the last one. Then its error is thrown. */
export async function withRetries<T>(
  settings: Settings,
  method: string,
  signal: AbortSignal | undefined,
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      const delay = signal?.aborted ? undefined : delayBefore(error, method, settings, number);
      if (delay === undefined) throw error;
      await sleep(settings.clock, delay, signal);
    }
  }
}

function delayBefore(
  error: unknown,
  method: string,
  settings: Settings,
  retry: number,
): number | undefined {
  if (retry > settings.retry.limit) return undefined;
  if (method !== 'GET') {
    const unsent = error instanceof NetworkError && !error.maybeSent;
    return unsent ? backoff(settings, retry) : undefined;
  }
  if (error instanceof ApiError) return delayAfterStatus(error, settings, retry);
  return isConnectionError(error) ? backoff(settings, retry) : undefined;
}

// Never sooner than Retry-After asks. The jitter keeps many clients from returning at once.
function delayAfterStatus(error: ApiError, settings: Settings, retry: number): number | undefined {
  if (error.status !== 429 && error.status < 500) return undefined;
  if (error.retryAfter === undefined) return backoff(settings, retry);
  const asked = error.retryAfter * 1000;
  if (asked > settings.retry.maxRetryAfter) return undefined;
  return asked + Math.round(settings.random() * settings.retry.baseDelay);
}

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date.
 *
 * @param now the wall clock, in epoch milliseconds
 * @returns whole seconds from now, rounded up, at least 0; undefined if the header is neither form
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  if (/^\d{1,10}$/.test(value)) return Number(value);
  // Date.parse also accepts texts such as "1.5". An HTTP date starts with the day of the week.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  // The oldest of the three date forms has no time zone, and would be read as local time.
  const date = Date.parse(/\d{4}$/.test(value) ? `${value} GMT` : value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

// Errors from looking up the name or making the connection.
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);
// An established connection can fail with these too, so they count only if `connect` raised them.
const beforeSendingInConnect = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

/**
 * Whether an error of `fetch` proves that nothing of the request was sent. If several addresses were
 * tried, all of them must have failed that way. An unknown error proves nothing.
 */
export function provesNothingSent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const errors: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((one) => provesNothingSent(one, depth + 1));
  }
  return isBeforeSending(error) || provesNothingSent(Reflect.get(error, 'cause'), depth + 1);
}

function isBeforeSending(error: object): boolean {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  if (beforeSending.has(code)) return true;
  return beforeSendingInConnect.has(code) && Reflect.get(error, 'syscall') === 'connect';
}
