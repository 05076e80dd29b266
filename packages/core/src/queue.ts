import type { ExpiringLetters } from './removal.ts';

/** A verified delivery on its way from a receiver to a queue worker. */
export interface QueuedDelivery {
  /** The tenant that the event belongs to. It is absent in a receiver without the option `tenant`. */
  tenant?: string;
  /** The id of the delivery. */
  webhookId: string;
  /** The time at which the service signed the delivery, in Unix seconds. */
  timestamp: number;
  /**
   * The time at which the whole delivery had arrived at the receiver, in milliseconds since the epoch.
   */
  receivedAt: number;
  /** The idempotency key of the event, if it has one. A queue may use it to drop duplicates. */
  key?: string;
  /** The name of the event, such as `call:completed`. It is absent for a custom payload. */
  eventName?: string;
  /** The id of the call, if the body has one. */
  callId?: string;
  /** A trace context to continue in the worker, as W3C headers: `{ traceparent: '…' }`. */
  trace?: Record<string, string>;
  /** The raw bytes of the body, as base64. */
  body: string;
}

/**
 * Stores deliveries durably. Its engine is responsible for retries, backoff and dead jobs from then on.
 */
export interface Queue extends ExpiringLetters {
  /**
   * Stores a delivery. The promise resolves only once the delivery would survive a crash; the receiver
   * then returns 202.
   */
  enqueue(delivery: QueuedDelivery): Promise<void>;
  /**
   * The clock by which the queue dates the failures of its dead jobs, in milliseconds since the epoch;
   * `Date.now` by default. With `keepFor`, dead jobs expire by it, whatever the clock of the receiver is.
   */
  now?(): number;
  /** Resolves if the queue can store a delivery now. `receiver.health()` uses it. */
  ping?(): Promise<unknown>;
  /**
   * Closes the queue. Call it yourself after the receiver has closed: a receiver never closes a queue.
   */
  close?(): Promise<void>;
}
