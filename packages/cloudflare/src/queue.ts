import { WebhookError, type Queue } from '@call-webhooks/core';
import { checkOptions, option } from '@call-webhooks/core/internal';
import { LargeBodies } from './large-bodies.ts';
import type { ObjectNamespace } from './namespace.ts';

/** What is used of the binding of a queue, as a producer. */
export interface QueueProducer {
  // `any`: the types of Workers know the type of a queue's messages.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: { contentType?: 'json' | 'v8' }): Promise<unknown>;
}

/** Options of `cloudflareQueue`. */
export interface CloudflareQueueOptions {
  /**
   * The binding of `CallWebhooksStore`, to keep bodies that are too large for a message. The consumer
   * needs the same. Without it no retry of such a delivery could help.
   */
  largeBodies: ObjectNamespace;
}

const rules = () => ({ largeBodies: option.optional(option.object<ObjectNamespace>()) });

/**
 * Sends deliveries to Cloudflare Queues. Run them with `createQueueConsumer`.
 *
 * Cloudflare Queues does not deduplicate: give the receiver a `durableObjectStore` too, so that an
 * event is queued once.
 * @param queue the binding of the queue
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks((env: Env) => ({
 *   secret: env.CALL_WEBHOOK_SECRET,
 *   store: durableObjectStore(env.CALL_WEBHOOKS),
 *   queue: cloudflareQueue(env.CALLS, { largeBodies: env.CALL_WEBHOOKS }),
 * }));
 */
export function cloudflareQueue(queue: QueueProducer, options: CloudflareQueueOptions): Queue {
  checkProducer(queue);
  const { largeBodies } = checkOptions('cloudflareQueue', rules(), options);
  const bodies = new LargeBodies('cloudflareQueue', largeBodies);
  return {
    async enqueue(delivery) {
      await queue.send(await bodies.pack(delivery), { contentType: 'json' });
    },
  };
}

/** @throws WebhookError `invalid-options` for anything but the binding of a queue */
function checkProducer(queue: Partial<QueueProducer> | null | undefined): void {
  if (typeof queue?.send === 'function') return;
  throw new WebhookError(
    'invalid-options',
    'Invalid queue of cloudflareQueue: expected the binding of a queue, such as env.CALLS. Is it in the configuration of the Worker, under queues.producers?',
  );
}
