import { WebhookError, type WorkerOptions } from '@call-webhooks/core';
import {
  createJobProcessor,
  exponentialBackoff,
  type BackoffOptions,
  type ContextWithoutCompleteIn,
} from '@call-webhooks/core/stores';
import {
  checkOptions,
  docsUrl,
  option,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core/internal';
import { LargeBodies } from './large-bodies.ts';
import { messageRunner, type QueueMessage } from './message.ts';
import type { ObjectNamespace } from './namespace.ts';
import type { QueueProducer } from './queue.ts';

/** What is used of a batch of messages. */
export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}

/** The handlers, as a receiver has them, and how jobs are run. */
export interface QueueConsumerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends WorkerOptions<Extra, Custom, ContextWithoutCompleteIn> {
  /**
   * How often a job is run until it is dead; 3 by default, at most 100. Set `max_retries` of the queue
   * higher: past that, Cloudflare drops a message and tells nobody.
   */
  maxRuns?: number | undefined;
  /**
   * How many jobs of a batch run at once; 4 by default. Set `max_batch_size` of the queue to the same for
   * slow handlers: a job that could not begin within 7 minutes goes back to the queue.
   */
  concurrency?: number | undefined;
  /**
   * Milliseconds between two attempts; from `initialDelay` 5,000 to `maxDelay` 3,600,000 by default,
   * at most 12 hours. Cloudflare waits for whole seconds.
   */
  backoff?: BackoffOptions | undefined;
  /** The binding of a queue that keeps dead jobs: the messages of those that were given up. */
  deadQueue?: QueueProducer | undefined;
  /** The binding of `CallWebhooksStore`, as for `cloudflareQueue`. */
  largeBodies: ObjectNamespace;
}

/** The `queue` of a Worker. */
export type QueueConsumer<Env> = (batch: QueueBatch, env: Env) => Promise<void>;

/** Jobs that have not begun by then go back to the queue, so that each handler has time. */
const BEGIN_WITHIN_MS = 420_000;
/** Handlers are aborted a minute before Cloudflare ends the consumer of a batch. */
const ABORT_AFTER_MS = 840_000;

const rules = () => ({
  maxRuns: option.default(option.count(1, 100), 3),
  concurrency: option.default(option.count(1, 100), 4),
  backoff: option.backoff(5_000, 3_600_000),
  deadQueue: option.optional(option.object<QueueProducer>('send')),
  largeBodies: option.optional(option.object<ObjectNamespace>()),
});

/**
 * Creates the `queue` of a Worker: it runs the deliveries that `cloudflareQueue` sent.
 *
 * Each message is acknowledged or retried on its own. After the last attempt, or at once if the payload
 * is invalid, the delivery goes to `deadLetter` and then to `deadQueue`. The one that fails is called
 * again with the next delay, without the handler. Another instance of the Worker does not know of the
 * failure: it runs the handler once more.
 * @param options gives the options for a Worker's bindings; called with the first batch. It throws
 *   WebhookError `invalid-options`, also without `deadLetter` and `deadQueue`: Cloudflare would keep
 *   nothing of a dead job.
 * @example
 * export default {
 *   fetch: hook,
 *   queue: createQueueConsumer((env: Env) => ({
 *     deadQueue: env.DEAD_CALLS,
 *     largeBodies: env.CALL_WEBHOOKS,
 *     on: { 'call:completed': saveCall },
 *   })),
 * };
 */
export function createQueueConsumer<
  Env,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: (env: Env) => QueueConsumerOptions<Extra, Custom>): QueueConsumer<Env> {
  let consume: ((batch: QueueBatch) => Promise<void>) | undefined;
  return async (batch, env) => (consume ??= consumer(options(env)))(batch);
}

function consumer<Extra extends ExtraEvents, Custom extends StandardSchema>(
  options: QueueConsumerOptions<Extra, Custom>,
): (batch: QueueBatch) => Promise<void> {
  const { maxRuns, concurrency, backoff, deadQueue, largeBodies, ...handlers } = options;
  const own = { maxRuns, concurrency, backoff, deadQueue, largeBodies };
  const settings = checkOptions('createQueueConsumer', rules(), own);
  if (!deadQueue && !handlers.deadLetter)
    throw new WebhookError(
      'invalid-options',
      'Invalid options of createQueueConsumer: pass deadLetter or deadQueue. Cloudflare keeps nothing of a job that was given up.',
      { docs: docsUrl('queues.md#cloudflare-queues') },
    );
  const run = messageRunner(createJobProcessor<Extra, Custom, ContextWithoutCompleteIn>(handlers), {
    maxRuns: settings.maxRuns,
    delay: exponentialBackoff(settings.backoff),
    deadQueue,
    largeBodies: new LargeBodies('createQueueConsumer', largeBodies),
    logger: handlers.logger ?? console,
  });

  return async ({ queue, messages }) => {
    const late = AbortSignal.timeout(BEGIN_WITHIN_MS);
    const signal = AbortSignal.timeout(ABORT_AFTER_MS);
    const waiting = messages.values();
    const runInTurn = async () => {
      for (const message of waiting) await run(message, { queue, late, signal });
    };
    await Promise.all(Array.from({ length: settings.concurrency }, runInTurn));
  };
}
