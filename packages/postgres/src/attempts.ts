import type { PgBossJob } from './pg-boss.ts';

/**
 * Retries beyond ours. Past its own limit pg-boss gives a job up without a word to anybody, also one
 * whose worker was killed: ours comes before.
 */
const BEYOND = 1_000_000_000;

/** `retryLimit` of a job that is run so often, and then given up on by its worker. */
export const retryLimitOf = (maxAttempts: number): number => BEYOND + maxAttempts - 1;

/** The `output` of a run that did not fail: its worker was closed before it ended. */
export const GIVEN_BACK = {
  message: 'The worker closed before the handler ended.',
  givenBack: true,
};

/** What a run is to its job. */
export interface Standing {
  /** 1 for the first run. */
  attempt: number;
  /** Whether the job is given up on when this run fails. */
  last: boolean;
  /** Whether the last run was the one before, and pg-boss never heard how it ended. */
  over: boolean;
}

/** @param job one of `pgBossQueue`, or one that was sent by hand with a limit of its own */
export function standingOf({ retryCount, retryLimit, output }: PgBossJob): Standing {
  const ours = retryLimit >= BEYOND;
  const limit = ours ? retryLimit - BEYOND : retryLimit;
  return {
    attempt: retryCount + 1,
    last: retryCount >= limit,
    over: ours && retryCount > limit && output?.['givenBack'] !== true,
  };
}
