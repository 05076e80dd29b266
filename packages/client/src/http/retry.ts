import { sleep } from '../clock.ts';
import { ApiError, NetworkError, TimeoutError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';

/** The back-off before retry number `retry` (from 1), in ms: doubling, capped, half of it random. */
export function backoff(settings: Pick<Settings, 'retry' | 'random'>, retry: number): number {
  const { baseDelay, maxDelay } = settings.retry;
  const ceiling = Math.min(maxDelay, baseDelay * 2 ** (retry - 1));
  return Math.round(ceiling * (0.5 + settings.random() / 2));
}

// Retry-After is never undercut; the jitter on top keeps many clients from returning as one.
function afterStatus(error: ApiError, settings: Settings, retry: number): number | undefined {
  if (error.status !== 429 && error.status < 500) return undefined;
  if (error.retryAfter === undefined) return backoff(settings, retry);
  const asked = error.retryAfter * 1000;
  if (asked > settings.retry.maxRetryAfter) return undefined;
  return asked + Math.round(settings.random() * settings.retry.baseDelay);
}

/** Whether another try may help a GET: a broken or silent connection. */
export function isConnectionTrouble(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof TimeoutError && error.maybeSent);
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
  if (error instanceof ApiError) return afterStatus(error, settings, retry);
  return isConnectionTrouble(error) ? backoff(settings, retry) : undefined;
}

/** Tries until it works, the error is final, or the retries are used up: then the last error is thrown. */
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
