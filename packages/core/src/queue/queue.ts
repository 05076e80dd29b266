/** A verified delivery on its way to a worker. */
export interface QueuedDelivery {
  webhookId: string;
  /** When the attempt was signed; Unix seconds. */
  timestamp: number;
  /** When the receiver got it; milliseconds since the epoch. */
  receivedAt: number;
  /** The idempotency key, where the event has one: a queue may use it to drop duplicates. */
  key?: string;
  eventName?: string;
  /** Base64 of the raw bytes. */
  body: string;
}

/** Takes deliveries durably. Retries, back-off and dead letters are the engine's from there on. */
export interface Queue {
  /** Resolves only once the delivery would survive a crash: the service is answered 202 then. */
  enqueue(delivery: QueuedDelivery): Promise<void>;
  /** Resolves when the queue would take a delivery, for `receiver.health()`. Bounded like every call. */
  ping?(): Promise<unknown>;
  /** For whoever made the queue; a receiver does not close it. */
  close?(): Promise<void>;
}
