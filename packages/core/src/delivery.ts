import type { DeliveryContent, WebhookError } from './errors.ts';
import type { CallDetails } from './events/call-details.ts';
import type { DeliverySource } from './outcomes.ts';
import type { HandlerLogger, Logger } from './report/logger.ts';

/** What a handler gets besides the event. `{ ...context, db }` keeps every property. */
export interface HandlerContext {
  /** How it came in: what the command line redrives comes over the network, and is a `webhook`. */
  readonly source: DeliverySource;
  /** The tenant whose secret verified the delivery. Absent without the option `tenant`. */
  readonly tenant?: string | undefined;
  /** New for each attempt of the service: do not use it to recognize duplicates. */
  readonly webhookId: string;
  /** When this attempt was signed. */
  readonly timestamp: Date;
  /** When the receiver got it. In a queue's worker: when the receiver that enqueued it got it. */
  readonly receivedAt: Date;
  /** 1 the first time that this event runs, as far as the store knows. */
  readonly attempt: number;
  /**
   * The idempotency key: use it to make an effect happen exactly once. Some events have none. Then send
   * none: two events under one empty or made-up key would be taken for one.
   */
  readonly key: string | undefined;
  /** Aborted at the deadline (`ackWithin`), when the lease is lost, and at shutdown. */
  readonly signal: AbortSignal;
  /** The `id` of the secret that verified the delivery. Only a `webhook` has it. */
  readonly secretId: string | undefined;
  /** `true` in a queue's worker: the service already got 202, and the queue retries. */
  readonly queued: boolean;
  /** A copy of the raw body, byte for byte as it was signed. Changing it changes nothing else. */
  readonly rawBody: Uint8Array;
  /** The parsed body as it was sent, before any schema. */
  readonly body: unknown;
  /**
   * The fields of that body by name, also those that the type of the event does not have:
   * `payload['crmId']`. Empty if the body is no object.
   */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The seven fields that the spec describes by meaning, read with the configured `fieldNames`. */
  readonly call: CallDetails;
  /**
   * The request's logger if the framework has one, otherwise the receiver's. What you log is not
   * redacted.
   * @example
   * context.log.info({ rows: 3 }, 'saved');
   */
  readonly log: HandlerLogger;
  /**
   * Marks the event as done in a transaction of yours, so that its effect and "done" are committed
   * together, or neither is. Await it before the transaction ends, and await the transaction.
   *
   * It takes the transaction of a client on the database of the store (`postgresStore`, `mysqlStore`,
   * `sqliteStore`); in a worker, on that of the queue (`pgBossQueue`, `sqliteQueue`). If the
   * transaction is rolled back after all, the event is not done, and is retried.
   * @throws WebhookError, which has to roll the transaction back: the lease was lost, the event has no
   *   key, or the store or queue is in no such database
   * @example
   * await db.transaction(async (tx) => {
   *   await tx.insert(calls).values({ id: event.callId });
   *   await completeIn(tx);
   * });
   */
  // A method, so that a context may narrow `tx` and still is one.
  completeIn(this: void, tx: unknown): Promise<void>;
}

/** One verified or trusted delivery. */
export interface Delivery {
  readonly webhookId: string;
  /** When it was signed; Unix seconds. */
  readonly timestamp: number;
  /** Until when its webhook id must be remembered; milliseconds since the epoch. */
  readonly replayUntil: number;
  /** As the context of its handler has it. Its outcome says `redrive` where the command line sent it. */
  readonly source: DeliverySource;
  /** Only a `webhook` has one. */
  readonly secretId?: string | undefined;
  readonly tenant?: string | undefined;
  /** When the receiver had all of it; milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Of a dead letter: how often it was run before it was redriven. */
  readonly earlierAttempts?: number | undefined;
  /** Of a dead letter: its id in the store of dead letters. */
  readonly letterId?: string | undefined;
  readonly rawBody: Uint8Array;
  readonly log: Logger;
}

/**
 * Handles one event. When it returns, or its promise resolves, the event is done. When it throws,
 * the service retries the event.
 */
export type Handler<Event, Context = HandlerContext> = (event: Event, context: Context) => unknown;

/** The handler of a payload, and how the payload is identified. */
export interface Route {
  readonly eventName: string | undefined;
  readonly callId: string | undefined;
  readonly key: string | undefined;
  readonly body: unknown;
  /** What the handler gets: what a schema made of the body, or the body. */
  readonly event: unknown;
  /** The content of the delivery, before and after its schema: kept out of the logs. */
  readonly sensitiveData: DeliveryContent | undefined;
  /** Why the payload can never be handled. It is identified all the same, as far as it can be. */
  readonly invalid?: WebhookError | undefined;
  /** The outcome of a successful run. */
  readonly outcome: 'handled' | 'ignored';
  /** Absent if there is no handler. */
  readonly handle: Handler<unknown> | undefined;
}
