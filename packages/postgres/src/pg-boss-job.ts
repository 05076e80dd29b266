import type { QueuedDelivery } from '@call-webhooks/core';
import { addFailure, type LeasedJob } from '@call-webhooks/core/stores';
import { attemptState, retryLimitOf } from './attempt-state.ts';
import { createQueues } from './create-queues.ts';
import { continuedJobId } from './job-id.ts';
import type { DeadJobData, DeadJobNote } from './pg-boss-dead-jobs.ts';
import { jobTransaction } from './pg-boss-transaction.ts';
import type { PgBossClient, PgBossJob, PgBossSendOptions } from './pg-boss.ts';

interface Queues {
  readonly boss: PgBossClient;
  readonly queue: string;
  readonly deadLetterQueue: string;
  readonly schema: string;
}

/** A fetched job of pg-boss, for the worker that runs it. */
export function leasedJob(job: PgBossJob, queues: Queues): LeasedJob {
  const { boss, queue, deadLetterQueue } = queues;
  const { id } = job;
  const delivery = job.data as QueuedDelivery;
  const { attempt, maxRuns, isLastAttempt, abandonReason } = attemptState(job);
  const failures = job.output?.failures ?? [];
  const failuresWith = (error: string) => addFailure(failures, { at: Date.now(), attempt, error });

  /** Under the job's own id, so that repeating this adds no second dead letter. */
  async function moveToDead(message: string): Promise<void> {
    const target = job.deadLetter ?? deadLetterQueue;
    await createQueues(boss, queue, target); // pg-boss sends nothing to a missing queue, silently
    const failure: DeadJobNote = {
      ...{ attempt, failures: failuresWith(message), retryDelay: job.retryDelay },
      expireInSeconds: Math.ceil(Number(job.expireInSeconds)),
    };
    const data: DeadJobData = { ...delivery, failure };
    await boss.send(target, data, { id, retentionSeconds: retentionSeconds(job) });
    await boss.complete(queue, id, { message });
  }

  return {
    delivery,
    attempt,
    maxRuns,
    isLastAttempt,
    abandonReason: abandonReason === undefined ? undefined : new Error(abandonReason),
    expiresIn: Number(job.expireInSeconds) * 1_000,
    transaction: jobTransaction(job, queues),
    complete: () => boss.complete(queue, id),
    retry: (message, reason) =>
      boss.fail(queue, id, {
        ...{ message, failures: failuresWith(message) },
        ...(reason !== undefined && { abandonReason: reason }),
      }),
    moveToDead,
    /** As a failure: pg-boss has no other way. The job is run again, after its last attempt as well. */
    release: () =>
      boss.fail(queue, id, {
        ...{ message: 'The worker was closed before the handler ended.', failures },
        ...(abandonReason === undefined ? { released: true } : { abandonReason }),
      }),
  };
}

/**
 * Continues a job that was sent by hand as one that its worker gives up: at a limit of its own,
 * pg-boss would not run it again, even if `deadLetter` failed or the worker was killed. Its new id
 * comes from its own, so that repeating this adds no second job.
 */
export async function continueJob(job: PgBossJob, { boss, queue }: Queues): Promise<void> {
  const { retryLimit, retryDelay, retryBackoff, deadLetter } = job;
  const id = await continuedJobId(job.id);
  const options: PgBossSendOptions = {
    ...{ id, retryLimit: retryLimitOf(retryLimit + 1), retryDelay, retryBackoff },
    expireInSeconds: Math.ceil(Number(job.expireInSeconds)),
    retentionSeconds: retentionSeconds(job),
    ...(deadLetter !== null && { deadLetter }),
  };
  await boss.send(queue, Object(job.data) as object, options);
  await boss.complete(queue, job.id, { continuedBy: id });
}

/** How long pg-boss keeps a job, from when it was created. */
function retentionSeconds({ createdOn, keepUntil }: PgBossJob): number {
  const kept = new Date(keepUntil).getTime() - new Date(createdOn).getTime();
  return Math.max(1, Math.ceil(kept / 1_000));
}
