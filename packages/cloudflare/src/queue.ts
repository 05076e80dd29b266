import { WebhookError, type Queue, type QueuedDelivery } from '@call-webhooks/core';
import { checkOptions, option } from '@call-webhooks/core/stores';
import { checkNamespace, type ObjectNamespace, type StoreObject } from './namespace.ts';

/** What is used of the binding of a queue, as a producer. */
export interface QueueProducer {
  // `any`: the types of Workers know the type of a queue's messages.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: { contentType?: 'json' | 'v8' }): Promise<unknown>;
}

/** The options of `cloudflareQueue`. */
export interface CloudflareQueueOptions {
  /**
   * The binding of `CallWebhooksStore`, to keep bodies that are too large for a message. The consumer
   * needs the same. Without it no retry of such a delivery could help.
   */
  largeBodies: ObjectNamespace;
}

const rules = () => ({ largeBodies: option.optional(option.object<ObjectNamespace>()) });

/**
 * Creates a queue in Cloudflare Queues. Run its jobs with `createQueueConsumer`.
 *
 * Cloudflare Queues does not recognize duplicates: give the receiver a `durableObjectStore` as well, so
 * that an event is queued only once.
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
  if (typeof (queue as Partial<QueueProducer> | null | undefined)?.send !== 'function')
    throw new WebhookError(
      'invalid-options',
      'Invalid queue of cloudflareQueue: expected the binding of a queue, such as env.CALLS. Is it in the configuration of the Worker, under queues.producers?',
    );
  const { largeBodies } = checkOptions('cloudflareQueue', rules(), options);
  const bodies = largeBodiesIn('cloudflareQueue', largeBodies);
  return {
    async enqueue(delivery) {
      await queue.send(await bodies.pack(delivery), { contentType: 'json' });
    },
  };
}

/** A message whose body is kept in a Durable Object. */
interface LargeMessage extends QueuedDelivery {
  /** The id of the body. */
  largeBody: string;
}

/**
 * The longest base64 body that a message holds itself. Cloudflare takes 128,000 bytes, of which the
 * key, the ids and a trace context need some.
 */
const MAX_INLINE = 100_000;
/** Longer than any message lives, in the queue and then among the dead ones. 30 days in milliseconds. */
const KEEP_FOR_MS = 2_592_000_000;

/**
 * Keeps the bodies that are too large for a message in a Durable Object.
 * @param creator the function that was given the namespace, for the error's message
 * @throws WebhookError `invalid-options`
 */
export function largeBodiesIn(creator: string, namespace: ObjectNamespace | undefined) {
  checkNamespace(creator, namespace);
  const object = () => namespace.get(namespace.idFromName('call-webhooks:bodies')) as StoreObject;
  return {
    /** The message for a delivery. */
    async pack(delivery: QueuedDelivery): Promise<QueuedDelivery> {
      const { body } = delivery;
      if (body.length <= MAX_INLINE) return delivery;
      const largeBody = crypto.randomUUID();
      await object().keepBody(largeBody, body, KEEP_FOR_MS);
      return { ...delivery, body: '', largeBody } as LargeMessage;
    },
    /**
     * The delivery of a message. Without one, its job is done.
     * @throws Error if the body is not known
     */
    async unpack(message: unknown): Promise<QueuedDelivery | undefined> {
      if (!isLarge(message)) return Object(message) as QueuedDelivery;
      const { largeBody, ...delivery } = message;
      const body = await object().loadBody(largeBody);
      if (body === undefined)
        throw new Error('The Durable Object does not have the large body of this message.');
      return body === '' ? undefined : { ...delivery, body };
    },
    /** Deletes the body of a message whose job is done. */
    async drop(message: unknown): Promise<void> {
      if (isLarge(message)) await object().dropBody(message.largeBody);
    },
  };
}

/** Whether the body of a message is kept elsewhere. */
const isLarge = (message: unknown): message is LargeMessage =>
  typeof (message as Partial<LargeMessage> | null)?.largeBody === 'string';
