import type { PgBossJob } from './pg-boss.ts';

/**
 * Retries beyond ours. Past its own limit pg-boss gives a job up without a word to anybody, also one
 * whose worker was killed: ours comes before.
 */
const BEYOND = 1_000_000_000;

/** `retryLimit` of a job that is run so often, and then given up on by its worker. */
export const retryLimitOf = (maxAttempts: number): number => BEYOND + maxAttempts - 1;

/** What a run is to its job. */
export interface Standing {
  /** 1 for the first run. */
  attempt: number;
  /** Whether the job is given up on when this run fails. */
  isLastAttempt: boolean;
  /** Whether the last run is behind it, and neither ended nor was given back. */
  over: boolean;
}

/** @param job one of `pgBossQueue`, or one that was sent by hand with a limit of its own */
export function standingOf({ retryCount, retryLimit, output }: PgBossJob): Standing {
  const ours = retryLimit >= BEYOND;
  const limit = ours ? retryLimit - BEYOND : retryLimit;
  return {
    attempt: retryCount + 1,
    isLastAttempt: retryCount >= limit,
    over: ours && retryCount > limit && output?.givenBack !== true,
  };
}
