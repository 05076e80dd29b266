import { WebhookError, type QueuedDelivery } from '@call-webhooks/core';
import { invalidCursor, type JobState, type QueueJobs } from '@call-webhooks/core/stores';
import { bullmqDeadJobs, type BullmqFailedJobs } from './bullmq-dead-jobs.ts';
import { jobId } from './bullmq-job-id.ts';

/** What is used of a `Job` of BullMQ. */
interface BullmqJob {
  id?: string | undefined;
  data: unknown;
  timestamp: number;
  /** Milliseconds since the epoch. */
  finishedOn?: number | null | undefined;
  getState(): Promise<string>;
  remove(): Promise<unknown>;
  updateData(data: object): Promise<unknown>;
}

/** The methods that are used of BullMQ's `Queue`. */
export interface BullmqAllJobs extends Omit<BullmqFailedJobs, 'getJobs'> {
  // BullMQ has a type of its own for the names of states.
  getJobs(types: never, start: number, end: number, asc: boolean): Promise<unknown[]>;
}

/** In the order in which a job goes through them, so that one that moves on is seen later. */
const STATES = {
  ...{ wait: 'waiting', paused: 'waiting', prioritized: 'waiting', delayed: 'waiting' },
  ...{ active: 'running', failed: 'dead', completed: 'done' },
} as const satisfies Record<string, JobState>;
const TYPES = Object.keys(STATES) as (keyof typeof STATES)[];
/** Besides those above, as `getState()` gives them. */
const stateOf = (name: string): JobState | undefined =>
  name === 'waiting' ? name : Object.hasOwn(STATES, name) ? STATES[name as 'wait'] : undefined;

/**
 * Returns the jobs of a queue in every state, for `erase()`. Jobs that no receiver added are left out.
 * A completed job has no body any more once its worker has removed it.
 * @throws WebhookError `invalid-options`
 * @example
 * const erased = await erase({ contains: ['+15550104477'], jobs: bullmqJobs(queue) });
 */
export function bullmqJobs(queue: BullmqAllJobs): QueueJobs {
  if (typeof (queue as Partial<BullmqAllJobs> | undefined)?.getJobs !== 'function')
    throw new WebhookError(
      'invalid-options',
      'Invalid queue of bullmqJobs: expected a Queue of BullMQ, such as new Queue("calls", { connection }).',
    );
  const dead = bullmqDeadJobs(queue);
  const find = async (id: string, state: JobState) => {
    const job = (await queue.getJob(id)) as BullmqJob | undefined;
    return job && stateOf(await job.getState()) === state ? job : undefined;
  };
  return {
    async list({ cursor = '0.0', limit = 100 } = {}) {
      const [, type, from] =
        /^([0-6])\.(\d{1,12})$/.exec(typeof cursor === 'string' ? cursor : '') ?? [];
      if (type === undefined || from === undefined) throw invalidCursor();
      const name = TYPES[Number(type)] as keyof typeof STATES;
      const end = Number(from) + limit - 1;
      const found = (await queue.getJobs([name] as never, Number(from), end, true)) as (
        BullmqJob | undefined
      )[];
      const jobs = found.flatMap((job) => (job ? listed(job, STATES[name]) : []));
      if (found.length >= limit) return { jobs, cursor: `${type}.${String(end + 1)}` };
      return Number(type) + 1 < TYPES.length ? { jobs, cursor: `${Number(type) + 1}.0` } : { jobs };
    },
    async erase(id, state) {
      if (state === 'dead') return dead.remove(id);
      const job = await find(id, state);
      if (!job) return false;
      if (state === 'done') {
        await job.updateData({});
        return true;
      }
      try {
        await job.remove(); // BullMQ refuses it while a worker has the job
        return true;
      } catch {
        if (await find(id, state)) throw new Error('BullMQ could not remove a waiting job.');
        return false;
      }
    },
    async forget(keys) {
      let known = 0;
      for (const key of keys) {
        const job = await find(await jobId({ key }), 'done');
        if (!job) continue;
        await job.remove();
        known += 1;
      }
      return known;
    },
  };
}

function listed(job: BullmqJob, state: JobState) {
  const { id, timestamp, finishedOn } = job;
  const delivery = Object(job.data) as Partial<QueuedDelivery>;
  if (id === undefined || typeof delivery.webhookId !== 'string') return [];
  const at = state === 'dead' ? (finishedOn ?? timestamp) : (delivery.receivedAt ?? timestamp);
  return [{ id, state, at: new Date(at), delivery }];
}
