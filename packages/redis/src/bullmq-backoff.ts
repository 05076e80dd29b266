/** The name under which our jobs ask for this back-off; `createBullmqWorker` knows it. */
export const BACKOFF_TYPE = 'call-webhooks';

export interface BackoffOptions {
  /** Milliseconds until the second attempt; doubled with each one after it. 5,000 by default. */
  first?: number | undefined;
  /** Milliseconds between two attempts at most; 3,600,000 by default, one hour. */
  longest?: number | undefined;
}

/**
 * Back-off that doubles up to a limit, ±20 % so that jobs which failed together come back apart.
 * BullMQ's own doubles without a limit: after an outage jobs would wait for days.
 */
export function backoffStrategy({ first = 5_000, longest = 3_600_000 }: BackoffOptions = {}) {
  return (attemptsMade: number): number =>
    Math.round(Math.min(longest, first * 2 ** (attemptsMade - 1)) * (0.8 + 0.4 * Math.random()));
}
