import { exponentialBackoff, type BackoffOptions } from '@call-webhooks/core/stores';

/** The name that our jobs ask for their backoff by. `createBullmqWorker` knows it. */
export const BACKOFF_TYPE = 'call-webhooks';

/**
 * `settings.backoffStrategy` of BullMQ: our backoff for our jobs, none for others. BullMQ's own
 * doubles without a limit, so that jobs would wait for days after an outage.
 */
export function backoffStrategy(options: Required<Record<keyof BackoffOptions, number>>) {
  const delayAfter = exponentialBackoff(options);
  return (attemptsMade: number, type?: string): number =>
    type === BACKOFF_TYPE ? Math.round(delayAfter(attemptsMade)) : 0;
}
