import { WebhookError, type Queue, type QueuedDelivery } from '@call-webhooks/core';

/** What is used of the binding of a queue, as a producer. */
export interface QueueProducer {
  // `any`: the types of Workers know the type of a queue's messages.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: { contentType?: 'json' }): Promise<unknown>;
}

/**
 * Sends deliveries to Cloudflare Queues. Run them with `createQueueConsumer`.
 *
 * Cloudflare Queues know no ids of jobs: give the receiver a `durableObjectStore` too, so that an
 * event is queued once. A message has at most 128 KB, which is a body of 95 KB. A larger delivery is
 * not queued and gets 503.
 * @param queue the binding of the queue
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks((env: Env) => ({
 *   secret: env.CALL_WEBHOOK_SECRET,
 *   store: durableObjectStore(env.CALL_WEBHOOKS),
 *   queue: cloudflareQueue(env.CALLS),
 * }));
 */
export function cloudflareQueue(queue: QueueProducer): Queue {
  checkProducer('queue of cloudflareQueue', queue);
  return {
    async enqueue(delivery: QueuedDelivery) {
      await queue.send(delivery, { contentType: 'json' });
    },
  };
}

/**
 * @param what the argument, for the error's message
 * @throws WebhookError `invalid-options` for anything but the binding of a queue
 */
export function checkProducer(
  what: string,
  queue: Partial<QueueProducer> | null | undefined,
): void {
  if (typeof queue?.send === 'function') return;
  throw new WebhookError(
    'invalid-options',
    `Invalid ${what}: expected the binding of a queue, such as env.CALLS. Is it in the configuration of the Worker, under queues.producers?`,
  );
}
