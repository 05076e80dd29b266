import type { Logger, Queue, QueuedDelivery } from '@call-webhooks/core';
import { BACKOFF_TYPE } from './bullmq-backoff.ts';
import { digest } from './digest.ts';
import { persistenceWarning, type HasRedisClient } from './persistence-warning.ts';

/** What we call of BullMQ's `Queue`. */
export interface BullmqQueueLike extends HasRedisClient {
  add(name: string, data: QueuedDelivery, options: BullmqJobOptions): Promise<unknown>;
  isPaused(): Promise<boolean>;
}

/** What we set of BullMQ's job options. */
export interface BullmqJobOptions {
  jobId: string;
  attempts: number;
  backoff: { type: string };
  removeOnComplete: { age: number };
  stackTraceLimit: number;
}

export interface BullmqQueueOptions {
  /** How often a job is run at most; 100 by default, which is about four days with the worker's back-off. */
  attempts?: number | undefined;
  /** How long a handled event is known as a duplicate, its job kept; milliseconds, 24 hours by default. */
  rememberFor?: number | undefined;
  /** Told when the server keeps no append-only file; `console` by default. */
  logger?: Logger | undefined;
}

const DAY_MS = 86_400_000;

/**
 * Hands deliveries to BullMQ, raw bytes and all; run them with `createBullmqWorker`.
 *
 * An event is one job: its id comes from the event's key, and a job that waits, runs, failed, or was
 * done within `rememberFor` is not added again. The queue stays yours: close it after the receiver.
 */
export function bullmqQueue(queue: BullmqQueueLike, options: BullmqQueueOptions = {}): Queue {
  const { attempts = 100, rememberFor = DAY_MS, logger = console } = options;
  const persistence = persistenceWarning(queue, logger);
  persistence.check();
  return {
    async enqueue(delivery) {
      persistence.check();
      await queue.add(delivery.eventName ?? 'custom', delivery, {
        jobId: await jobId(delivery),
        attempts,
        backoff: { type: BACKOFF_TYPE },
        removeOnComplete: { age: Math.ceil(rememberFor / 1000) },
        stackTraceLimit: 1,
      });
    },
    ping: () => queue.isPaused(), // asks the server, in every version of BullMQ
  };
}

/** BullMQ takes no `:` in an id, and no id of digits alone; a delivery without a key is its own event. */
async function jobId({ key, webhookId }: QueuedDelivery): Promise<string> {
  return key === undefined
    ? `delivery-${await digest('SHA-256', webhookId)}`
    : `event-${await digest('SHA-256', key)}`;
}
