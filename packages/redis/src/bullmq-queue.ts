import { WebhookError, type Logger, type Queue, type QueuedDelivery } from '@call-webhooks/core';
import { checkOptions, type DeadJobs, option, safeLogger } from '@call-webhooks/core/stores';
import { pingBullmq } from './bullmq-ping.ts';
import { bullmqDeadJobs, type BullmqFailedJobs } from './bullmq-dead-jobs.ts';
import { jobId } from './bullmq-job-id.ts';
import { takeBullmqTurn } from './bullmq-turn.ts';
import { BACKOFF_TYPE, checkConnection, refuseSettings } from './bullmq-settings.ts';
import { checkDatabase } from './database.ts';
import { warnOfDeadConnectionsOfBullmq } from './dead-connections.ts';
import { explained } from './scripts.ts';
import { clientOf, persistenceWarning, type HasRedisClient } from './server-warnings.ts';

/** What is used of BullMQ's `Queue`. */
export interface BullmqQueueLike extends HasRedisClient, Partial<BullmqFailedJobs> {
  readonly name?: string;
  readonly opts?: { connection?: object; prefix?: string; defaultJobOptions?: object };
  add(name: string, data: QueuedDelivery, options: BullmqJobOptions): Promise<unknown>;
  isPaused(): Promise<boolean>;
}

/** The options of a BullMQ job that are set. */
export interface BullmqJobOptions {
  jobId: string;
  attempts: number;
  backoff: { type: string };
  removeOnComplete: { age: number };
  removeOnFail: false;
  stackTraceLimit: number;
}

/** The options of `bullmqQueue`. */
export interface BullmqQueueOptions {
  /**
   * The maximum number of runs of a job before it is dead; 100 by default, which takes about four days
   * with the worker's default backoff.
   */
  maxRuns?: number | undefined;
  /**
   * How long a handled event is recognized as a duplicate, in milliseconds: 600,000 (10 minutes) to 10
   * years, by default 86,400,000 (24 hours). Until then, its job is kept.
   */
  rememberFor?: number | undefined;
  /**
   * How long a dead job is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10
   * years. By default, dead jobs are kept until they are requeued or removed. A receiver of the queue
   * removes the expired ones.
   */
  keepFor?: number | undefined;
  /** Gets a warning if the server keeps no append-only file; `console` by default. */
  logger?: Logger | undefined;
}

const rules = () => ({
  maxRuns: option.default(option.count(1, 1_000_000), 100),
  rememberFor: option.rememberFor(),
  keepFor: option.keepFor(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Creates a queue in BullMQ. Run its jobs with `createBullmqWorker`.
 *
 * The id of a job is derived from the key of its event. An event is therefore queued only once while
 * its job waits, runs or has failed, and for `rememberFor` after it was handled. You own BullMQ's
 * queue: close it after the receiver.
 * @throws WebhookError `invalid-options`
 * @example
 * const connection = { host, port, socketTimeout: 5_000, enableOfflineQueue: false };
 * const queue = new Queue('calls', { connection });
 * const hook = callWebhooks({ secret, queue: bullmqQueue(queue) });
 */
export function bullmqQueue(queue: BullmqQueueLike, options: BullmqQueueOptions = {}): Queue {
  const settings = checkOptions('bullmqQueue', rules(), options);
  const { maxRuns, rememberFor, keepFor, logger } = settings;
  checkQueue(queue);
  if (keepFor !== undefined) bullmqDeadJobs(queue as BullmqFailedJobs); // it has to have the methods
  const { connection } = queue.opts ?? {};
  if (connection) warnOfDeadConnectionsOfBullmq(connection, false, safeLogger(logger));
  const warnAboutLoss = persistenceWarning(queue, safeLogger(logger));
  warnAboutLoss();
  return {
    keepFor,
    removeExpired: expiredJobs(queue),
    async enqueue(delivery) {
      warnAboutLoss();
      const jobOptions: BullmqJobOptions = {
        jobId: await jobId(delivery),
        attempts: maxRuns,
        backoff: { type: BACKOFF_TYPE },
        removeOnComplete: { age: Math.ceil(rememberFor / 1_000) },
        removeOnFail: false, // whatever the defaults of the queue or its workers say
        stackTraceLimit: 1,
      };
      try {
        await checkDatabase(await clientOf(queue));
        await queue.add(delivery.eventName ?? 'custom', delivery, jobOptions);
      } catch (error) {
        throw explained(error);
      }
    },
    // A queue that was paused takes deliveries all the same: its workers say so.
    ping: async () => (await pingBullmq(queue, 'add')) ?? queue.isPaused(),
  };
}

/** Removes the dead jobs of a queue that have expired, one process at a time. */
function expiredJobs(queue: BullmqQueueLike): NonNullable<Queue['removeExpired']> {
  let dead: DeadJobs | undefined;
  return async ({ before, limit, token, leaseMs }) => {
    dead ??= bullmqDeadJobs(queue as BullmqFailedJobs);
    if (!(await takeBullmqTurn(queue, token, leaseMs))) return undefined;
    const { letters } = await dead.list({ until: before, limit });
    let removed = 0;
    for (const { id } of letters) if (await dead.remove(id)) removed += 1;
    return removed;
  };
}

function checkQueue(queue: BullmqQueueLike): void {
  const has = (method: string) =>
    typeof Reflect.get(Object(queue) as object, method) === 'function';
  if (has('add') && has('isPaused') && !has('process')) {
    const { name = '', opts = {} } = queue;
    refuseSettings('bullmqQueue', opts.defaultJobOptions ?? {});
    checkConnection('bullmqQueue', opts.connection, opts, name);
    return;
  }
  throw new WebhookError(
    'invalid-options',
    has('process')
      ? 'Invalid queue of bullmqQueue: this is a queue of Bull. Pass a Queue of BullMQ.'
      : 'Invalid queue of bullmqQueue: expected a Queue of BullMQ, such as new Queue("calls", { connection }).',
  );
}
