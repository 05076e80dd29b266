import type { QueuedDelivery } from '@call-webhooks/core';
import { checkNamespace, type ObjectNamespace } from './namespace.ts';

/** The methods that keep bodies, as they are called from a Worker. */
interface BodyObject {
  keepBody(id: string, body: string, keepFor: number): Promise<void>;
  loadBody(id: string): Promise<string | undefined>;
  dropBody(id: string): Promise<void>;
}

/** A message whose body is kept in a Durable Object. */
export interface LargeMessage extends QueuedDelivery {
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

/** Keeps the bodies that are too large for a message in a Durable Object. */
export class LargeBodies {
  readonly #namespace: ObjectNamespace;

  /**
   * @param creator the function that was given the namespace, for the error's message
   * @throws WebhookError `invalid-options`
   */
  constructor(creator: string, namespace: ObjectNamespace | undefined) {
    checkNamespace(creator, namespace);
    this.#namespace = namespace;
  }

  /** The message for a delivery. */
  async pack(delivery: QueuedDelivery): Promise<QueuedDelivery> {
    const { body } = delivery;
    if (body.length <= MAX_INLINE) return delivery;
    const largeBody = crypto.randomUUID();
    await this.#object().keepBody(largeBody, body, KEEP_FOR_MS);
    return { ...delivery, body: '', largeBody } as LargeMessage;
  }

  /**
   * The delivery of a message. Without one, its job is done.
   * @throws Error if the body is not known
   */
  async unpack({ largeBody, ...delivery }: LargeMessage): Promise<QueuedDelivery | undefined> {
    const body = await this.#object().loadBody(largeBody);
    if (body === undefined) throw new Error('The large body of a message is not in the object.');
    return body === '' ? undefined : { ...delivery, body };
  }

  /** Deletes the body of a message whose job is done. */
  async drop(message: unknown): Promise<void> {
    if (isLarge(message)) await this.#object().dropBody(message.largeBody);
  }

  #object(): BodyObject {
    const namespace = this.#namespace;
    return namespace.get(namespace.idFromName('call-webhooks:bodies')) as BodyObject;
  }
}

/** Whether the body of a message is kept elsewhere. */
export const isLarge = (message: unknown): message is LargeMessage =>
  typeof (message as Partial<LargeMessage> | null)?.largeBody === 'string';
