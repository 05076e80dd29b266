import type { LeasedJob, QueuedDelivery } from '@call-webhooks/core';
import { attemptState } from './attempt-state.ts';
import { createQueues } from './create-queues.ts';
import type { PgBossClient, PgBossJob } from './pg-boss.ts';

interface Queues {
  readonly boss: PgBossClient;
  readonly queue: string;
  readonly deadLetterQueue: string;
}

/** A fetched job of pg-boss, for the worker that runs it. */
export function leasedJob(job: PgBossJob, { boss, queue, deadLetterQueue }: Queues): LeasedJob {
  const { id, expireInSeconds } = job;
  const delivery = job.data as QueuedDelivery;
  const { attempt, maxAttempts, isLastAttempt, hasOwnLimit, abandonReason } = attemptState(job);

  /** Under the job's own id, so that repeating this adds no second dead letter. */
  async function moveToDead(message: string): Promise<void> {
    const target = job.deadLetter ?? deadLetterQueue;
    const kept = new Date(job.keepUntil).getTime() - new Date(job.createdOn).getTime();
    const retentionSeconds = Math.max(1, Math.ceil(kept / 1_000));
    await createQueues(boss, queue, target); // pg-boss sends nothing to a missing queue, silently
    await boss.send(target, delivery, { id, retentionSeconds });
    await boss.complete(queue, id, { message });
  }

  return {
    delivery,
    attempt,
    maxAttempts,
    isLastAttempt,
    abandonReason: abandonReason === undefined ? undefined : new Error(abandonReason),
    expiresIn: expireInSeconds * 1_000,
    complete: () => boss.complete(queue, id),
    retry: (message, reason) =>
      // After its own limit pg-boss would not run the job again.
      isLastAttempt && hasOwnLimit
        ? moveToDead(message)
        : boss.fail(queue, id, { message, ...(reason !== undefined && { abandonReason: reason }) }),
    moveToDead,
    /** As a failure: pg-boss has no other way. The job is run again, after its last attempt as well. */
    release: () =>
      boss.fail(queue, id, {
        message: 'The worker was closed before the handler ended.',
        ...(abandonReason === undefined ? { released: true } : { abandonReason }),
      }),
  };
}
