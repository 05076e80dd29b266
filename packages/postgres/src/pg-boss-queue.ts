import { WebhookError, type Queue, type QueuedDelivery } from '@call-webhooks/core';
import { storableKey, type BackoffOptions } from '@call-webhooks/core/stores';
import { checkOptions, option } from '@call-webhooks/core/internal';
import { retryLimitOf } from './attempt-state.ts';
import { createQueues } from './create-queues.ts';
import { jobId } from './job-id.ts';
import { checkBoss, type PgBossClient, type PgBossSendOptions } from './pg-boss.ts';
import { deadLetterName, DEFAULT_QUEUE, queueName } from './queue-names.ts';

/** Options of `pgBossQueue`. */
export interface PgBossQueueOptions {
  /** The name of the queue; `call-webhooks` by default. */
  queue?: string | undefined;
  /** The queue that workers move dead jobs to; by default the name of the queue and `-dead`. */
  deadLetterQueue?: string | undefined;
  /** How often a job is run until it is dead; 5,000 by default: three and a half days, a minute apart. */
  maxRuns?: number | undefined;
  /**
   * Milliseconds between two attempts, in whole seconds; 60,000 by default. A growing delay could not be
   * limited in pg-boss 10, so `maxDelay` has to be the same as `initialDelay`, or absent.
   */
  backoff?: BackoffOptions | undefined;
  /**
   * How long one run may take; milliseconds, in whole seconds, 300,000 by default. Then pg-boss gives
   * the job to another worker.
   */
  expireIn?: number | undefined;
  /** How long pg-boss keeps a job that was not run to its end; milliseconds, 14 days by default. */
  retainFor?: number | undefined;
}

const DAY_MS = 86_400_000;
const rules = () => ({
  queue: option.default(queueName(), DEFAULT_QUEUE),
  deadLetterQueue: option.optional(queueName()),
  maxRuns: option.default(option.count(1, 1_000_000), 5_000),
  backoff: option.backoff(60_000, 60_000),
  expireIn: option.default(option.milliseconds(1_000, DAY_MS), 300_000),
  retainFor: option.default(option.milliseconds(60_000, 3_650 * DAY_MS), 14 * DAY_MS),
});

/** A queue in pg-boss. */
export interface PgBossQueue extends Queue {
  /**
   * Creates the queue and its dead-letter queue if they are missing. Safe to run at every start, and
   * on several machines at once. Rejects with pg-boss's error.
   */
  migrate(): Promise<void>;
}

/**
 * Keeps deliveries in pg-boss 10 or 12. Run them with `createPgBossWorker` only: the worker gives jobs up,
 * pg-boss itself would tell nobody.
 *
 * The id of a job comes from the event's key: an event is queued once for as long as pg-boss keeps
 * its job after it was done: in pg-boss 10 for `archiveCompletedAfterSeconds`, 12 hours by default, and in
 * pg-boss 12 for `deleteAfterSeconds` of the queue, 7 days by default.
 *
 * Start pg-boss before, and listen to its `error` event. Then call `migrate()`; otherwise the first
 * delivery does.
 * @throws WebhookError `invalid-options`
 * @example
 * const queue = pgBossQueue(boss);
 * await queue.migrate();
 * const hook = callWebhooks({ secret, store, queue });
 */
export function pgBossQueue(boss: PgBossClient, options: PgBossQueueOptions = {}): PgBossQueue {
  const settings = checkOptions('pgBossQueue', rules(), options);
  checkBoss('pgBossQueue', boss);
  const { queue, deadLetterQueue = deadLetterName(queue) } = settings;
  const { initialDelay } = settings.backoff;
  if ((options.backoff?.maxDelay ?? initialDelay) !== initialDelay)
    throw new WebhookError(
      'invalid-options',
      'Invalid options of pgBossQueue: backoff.maxDelay: expected the same as initialDelay, since the delay is kept.',
    );
  const sendOptions: Omit<PgBossSendOptions, 'id'> = {
    retryLimit: retryLimitOf(settings.maxRuns),
    retryDelay: Math.ceil(initialDelay / 1_000),
    expireInSeconds: Math.ceil(settings.expireIn / 1_000),
    retentionSeconds: Math.ceil(settings.retainFor / 1_000),
    deadLetter: deadLetterQueue,
  };
  let ready: Promise<void> | undefined;
  const migrate = () =>
    (ready ??= createQueues(boss, queue, deadLetterQueue).catch((error: unknown) => {
      ready = undefined; // the next delivery tries again
      throw error;
    }));

  async function sent(data: QueuedDelivery, id: string): Promise<string | null> {
    try {
      return await boss.send(queue, data, { ...sendOptions, id });
    } catch (error) {
      ready = undefined; // pg-boss 12 fails if it has no such queue
      throw error;
    }
  }

  return {
    migrate,
    async enqueue(delivery) {
      await migrate();
      const id = await jobId(delivery);
      const data = await storableDelivery(delivery);
      if ((await sent(data, id)) !== null) return;
      // pg-boss answers null if it has the job. pg-boss 10 does so as well if it has no such queue.
      if (await boss.getJobById(queue, id, { includeArchive: true })) return;
      ready = undefined;
      throw new Error(`pg-boss took no job. Was the queue "${queue}" deleted?`);
    },
    async ping() {
      await boss.getQueue(queue);
    },
  };
}

/**
 * Postgres can't keep NUL or half of a surrogate pair in JSON. A worker derives the key and the name
 * from the body, so they may be left out.
 */
async function storableDelivery(delivery: QueuedDelivery): Promise<QueuedDelivery> {
  const { key, eventName, webhookId, ...rest } = delivery;
  return {
    ...rest,
    webhookId: isStorable(webhookId) ? webhookId : await storableKey(webhookId),
    ...(key !== undefined && isStorable(key) && { key }),
    ...(eventName !== undefined && isStorable(eventName) && { eventName }),
  };
}

const isStorable = (text: string) => !/[\0\p{Surrogate}]/u.test(text);
