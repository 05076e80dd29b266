import type { ExpiringLetters } from './removal.ts';

/** A verified delivery on its way to a worker. */
export interface QueuedDelivery {
  /** Whose event it is. Absent in a receiver without the option `tenant`. */
  tenant?: string;
  webhookId: string;
  /** When the attempt was signed; Unix seconds. */
  timestamp: number;
  /** When the receiver got it; milliseconds since the epoch. */
  receivedAt: number;
  /** The idempotency key, if the event has one. A queue may use it to drop duplicates. */
  key?: string;
  eventName?: string;
  callId?: string;
  /** A trace context to continue in the worker, as W3C headers: `{ traceparent: '…' }`. */
  trace?: Record<string, string>;
  /** Base64 of the raw bytes. */
  body: string;
}

/** Stores deliveries durably. From there on, its engine does retries, back-off and dead letters. */
export interface Queue extends ExpiringLetters {
  /** Resolves only once the delivery would survive a crash. The service then gets 202. */
  enqueue(delivery: QueuedDelivery): Promise<void>;
  /** Resolves when the queue can take a delivery, for `receiver.health()`. */
  ping?(): Promise<unknown>;
  /** Called by whoever created the queue; a receiver never closes it. */
  close?(): Promise<void>;
}
