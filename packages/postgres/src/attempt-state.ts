import type { PgBossJob } from './pg-boss.ts';

/**
 * Retries beyond ours. At its own limit pg-boss gives a job up and tells nobody, also if its worker
 * was killed. Our limit is reached before.
 */
const BEYOND = 1_000_000_000;

/** The `retryLimit` of a job that its worker gives up after `maxRuns` runs. */
export const retryLimitOf = (maxRuns: number): number => BEYOND + maxRuns - 1;

/** Whether pg-boss gives the job up itself: it was sent by hand. */
export const hasOwnLimit = ({ retryLimit }: PgBossJob): boolean => retryLimit < BEYOND;

export interface AttemptState {
  /** 1 for the first run. */
  attempt: number;
  /** How many runs the job gets. */
  maxRuns: number;
  /** Whether the job is given up when this run fails. */
  isLastAttempt: boolean;
  /** Why no handler is run any more. */
  abandonReason: string | undefined;
}

const LOST = 'Its last run came to no end: the process died, or expireIn had passed.';

/** @param job one whose worker gives it up */
export function attemptState({ retryCount, retryLimit, output }: PgBossJob): AttemptState {
  const limit = retryLimit - BEYOND;
  const wasLost = retryCount > limit && output?.released !== true;
  return {
    attempt: retryCount + 1,
    maxRuns: limit + 1,
    isLastAttempt: retryCount >= limit,
    abandonReason: output?.abandonReason ?? (wasLost ? LOST : undefined),
  };
}
