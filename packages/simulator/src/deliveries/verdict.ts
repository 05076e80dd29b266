import type { PauseReason } from '../rules/rule.ts';
import type { Answer } from './answer.ts';

/** Why an attempt did not acknowledge its delivery. */
export type FailureReason = 'status' | 'timeout' | 'connection-error';

/** What an answer does to its delivery and to the rule (spec, "States and transitions"). */
export type Verdict =
  | { readonly next: 'acknowledged' }
  | { readonly next: 'retry'; readonly because: FailureReason }
  | {
      readonly next: 'paused';
      readonly because: Extract<PauseReason, 'answered-404' | 'last-attempt-failed'>;
    };

/**
 * The rule's state machine, a row for a row of the spec's table:
 * any 2xx acknowledges; 404 pauses at once; anything else, no answer in time or a connection error
 * is retried a limited number of times; the rule is paused when the last attempt fails.
 * @param attempt counts from 1
 * @param maxAttempts the first attempt included; how many they are is not shown in the spec
 */
export function judge(answer: Answer, attempt: number, maxAttempts: number): Verdict {
  if (answer.kind === 'status') {
    if (answer.status >= 200 && answer.status < 300) return { next: 'acknowledged' };
    if (answer.status === 404) return { next: 'paused', because: 'answered-404' };
  }
  if (attempt >= maxAttempts) return { next: 'paused', because: 'last-attempt-failed' };
  return { next: 'retry', because: answer.kind };
}

/**
 * How long until the next attempt: "about" five minutes.
 * @param every milliseconds
 * @param jitter how far from it, at most, as a part of `every`
 * @param fraction 0 to 1, drawn from the seed
 */
export function retryDelay(every: number, jitter: number, fraction: number): number {
  return Math.round(every * (1 + jitter * (2 * fraction - 1)));
}
