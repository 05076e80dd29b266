import type { LeasedJob } from '@call-webhooks/core/stores';
import type { TakenJob } from './job-rows.ts';
import type { Jobs } from './jobs.ts';

/** What a run needs from its worker. */
export interface RunSettings {
  readonly backoff: (attempt: number) => number;
  readonly leaseFor: number;
  readonly maxRuns: number;
}

/** Runs beyond `maxRuns` that end with their process until a job is given up. */
const EXTRA_CRASHES = 3;

/** A taken job, for the worker that runs it. */
export function leasedJob(jobs: Jobs, taken: TakenJob, settings: RunSettings): LeasedJob {
  const { attempt, delivery } = taken;
  const { backoff, leaseFor, maxRuns } = settings;
  return {
    delivery,
    attempt,
    isLastAttempt: taken.isLastRun || attempt >= maxRuns,
    maxRuns,
    abandonReason: abandonReasonOf(taken, maxRuns),
    extendEvery: leaseFor / 3,
    extend: () => jobs.extend(taken, leaseFor),
    transaction: {
      completeIn: (tx) => jobs.completeIn(tx, taken),
      isCompleted: () => jobs.isCompleted(taken),
    },
    complete: () => jobs.complete(taken),
    retry: (message, abandonReason) => jobs.retry(taken, backoff(attempt), message, abandonReason),
    moveToDead: (message) => jobs.moveToDead(taken, message),
    release: () => jobs.release(taken),
  };
}

function abandonReasonOf(
  { attempt, crashes, abandonReason, isLastRun }: TakenJob,
  maxRuns: number,
): Error | undefined {
  if (abandonReason !== undefined) return new Error(abandonReason);
  if ((attempt <= maxRuns && !isLastRun) || crashes <= EXTRA_CRASHES) return undefined;
  return new Error(`Its process died in each of the last attempts (${String(crashes)}).`);
}
