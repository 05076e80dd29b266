import { WebhookError, type QueuedDelivery } from '@call-webhooks/core';
import { deadJobs, type DeadJobRecord, type DeadJobs } from '@call-webhooks/core/stores';

/** The part of a failed `Job` of BullMQ that is used. */
export interface BullmqFailedJob {
  id?: string | undefined;
  data: unknown;
  /** The number of runs that were started. */
  attemptsStarted: number;
  failedReason: string | null;
  /** The time of the last failure, in milliseconds since the epoch. */
  finishedOn?: number | null | undefined;
  /** Rejects if the job is not in this state. */
  retry(state: 'failed'): Promise<void>;
  isFailed(): Promise<boolean>;
  remove(): Promise<unknown>;
}

/** The part of BullMQ's `Queue` that is used. */
export interface BullmqFailedJobs {
  getJob(id: string): Promise<unknown>;
  getJobs(types: 'failed'[], start: number, end: number, asc: boolean): Promise<unknown[]>;
  getFailedCount(): Promise<number>;
}

/** How many jobs are read at once. */
const PAGE = 100;
const METHODS = ['getJob', 'getJobs', 'getFailedCount'] as const;

/**
 * Returns the failed jobs of a queue as dead letters, for `redrive({ deadJobs })`. `requeue` runs a job
 * once more. Jobs that no receiver added are left out. Do not `remove` a job while it is being
 * requeued: BullMQ would delete it while it waits.
 * @throws WebhookError `invalid-options`
 * @example
 * const { queued } = await redrive({ deadJobs: bullmqDeadJobs(queue) });
 */
export function bullmqDeadJobs(queue: BullmqFailedJobs): DeadJobs {
  const has = (method: string) =>
    typeof Reflect.get(Object(queue) as object, method) === 'function';
  if (!METHODS.every(has))
    throw new WebhookError(
      'invalid-options',
      'Invalid queue of bullmqDeadJobs: expected a Queue of BullMQ, such as new Queue("calls", { connection }).',
    );

  /** BullMQ sorts failed jobs by `finishedOn`, then by their ids. */
  const jobsAt = async (index: number, count: number) =>
    (await queue.getJobs(['failed'], index, index + count - 1, true)) as (
      BullmqFailedJob | undefined
    )[];

  /** The index of the first job that failed at this time or later. */
  async function firstSince(time: number): Promise<number> {
    let [low, high] = [0, time === 0 ? 0 : await queue.getFailedCount()];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [job] = await jobsAt(middle, 1);
      if ((job?.finishedOn ?? Infinity) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async function dead(id: string): Promise<BullmqFailedJob | undefined> {
    const job = (await queue.getJob(id)) as BullmqFailedJob | undefined;
    return job && recordOf(job) && (await job.isFailed()) ? job : undefined;
  }

  return deadJobs({
    async page({ since, until, after }) {
      const from = after && after.failedAt >= since ? after : { failedAt: since, id: '' };
      const isNext = ({ failedAt, id }: DeadJobRecord) => {
        const time = failedAt.getTime();
        return time < until && (time > from.failedAt || (time === from.failedAt && id > from.id));
      };
      for (let index = await firstSince(from.failedAt); ; index += PAGE) {
        const jobs = await jobsAt(index, PAGE); // without those that were removed meanwhile
        const found = jobs.flatMap((job) => (job && recordOf(job)) ?? []).filter(isNext);
        const isEnd = jobs.length === 0 || jobs.some((job) => (job?.finishedOn ?? 0) >= until);
        if (found.length > 0 || isEnd) return found;
      }
    },
    async get(id) {
      const job = await dead(id);
      return job && recordOf(job);
    },
    async requeue(id) {
      const job = await dead(id);
      if (!job) return false;
      try {
        await job.retry('failed');
        return true;
      } catch (error) {
        if (!isRefused(error)) throw error;
        return false; // somebody else has retried it, and it may have failed again since
      }
    },
    async remove(id) {
      const job = await dead(id);
      await job?.remove();
      return job !== undefined;
    },
  });
}

/** Whether BullMQ found that the job is missing or not failed. */
const isRefused = (error: unknown) => [-1, -3].includes((error as { code?: number }).code ?? 0);

function recordOf(job: BullmqFailedJob): DeadJobRecord | undefined {
  const { id, data, attemptsStarted: attempt, failedReason, finishedOn } = job;
  const delivery = Object(data) as Partial<QueuedDelivery>;
  const { body, webhookId, timestamp } = delivery;
  if (id === undefined || typeof body !== 'string' || typeof webhookId !== 'string')
    return undefined;
  if (typeof timestamp !== 'number' || typeof finishedOn !== 'number') return undefined;
  return {
    id,
    attempt,
    delivery: delivery as QueuedDelivery,
    failedAt: new Date(finishedOn),
    error: failedReason ?? '',
  };
}
