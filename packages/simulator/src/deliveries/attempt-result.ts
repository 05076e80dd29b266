import type { AttemptResponse, AttemptResult } from './delivery.ts';

/**
 * Applies the state table of the spec: any 2xx acknowledges the delivery, a 404 pauses the rule at
 * once, and everything else is retried. The rule is paused when the last attempt fails.
 * @param attempt counts from 1
 * @param maxAttempts includes the first attempt
 */
export function attemptResult(
  response: AttemptResponse,
  attempt: number,
  maxAttempts: number,
): AttemptResult {
  if (response.kind === 'status') {
    if (response.status >= 200 && response.status < 300) return { next: 'acknowledged' };
    if (response.status === 404) return { next: 'paused', reason: 'answered-404' };
  }
  if (attempt >= maxAttempts) return { next: 'paused', reason: 'last-attempt-failed' };
  return { next: 'retry', reason: response.kind };
}

/**
 * The delay until the next attempt: "about" every five minutes.
 * @param every milliseconds
 * @param jitter the largest deviation, as a fraction of `every`
 * @param fraction a random number from 0 to 1
 * @returns milliseconds
 */
export function retryDelay(every: number, jitter: number, fraction: number): number {
  return Math.round(every * (1 + jitter * (2 * fraction - 1)));
}
