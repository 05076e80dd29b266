import type { DeliveryContent, WebhookError } from './errors.ts';
import type { CallDetails } from './events/call-details.ts';
import type { DeliverySource } from './outcomes.ts';
import type { HandlerLogger, Logger } from './report/logger.ts';

/**
 * What a handler gets besides the event. All properties are own properties, so `{ ...context, db }`
 * keeps every one of them.
 */
export interface HandlerContext {
  /**
   * Where the delivery comes from. It is `webhook` for every delivery that arrives over the network,
   * including those that the command line redrives or reconciles.
   */
  readonly source: DeliverySource;
  /**
   * The tenant whose secret verified the delivery. It is absent in a receiver without the option
   * `tenant`.
   */
  readonly tenant?: string | undefined;
  /**
   * The id of this delivery. Each delivery of an event has a new one, so do not use it to recognize
   * duplicates: use `key`.
   */
  readonly webhookId: string;
  /** The time at which the service signed this delivery. */
  readonly timestamp: Date;
  /**
   * The time at which the whole delivery had arrived at the receiver. In a queue worker, this is when
   * it had arrived at the receiver that enqueued it.
   */
  readonly receivedAt: Date;
  /**
   * The number of this attempt at the event, counted from 1, as far as the store knows. In a queue
   * worker, it is the number of the job's run.
   */
  readonly attempt: number;
  /**
   * The idempotency key of the event, which is the same for all of its deliveries. Pass it to other
   * systems so that an effect happens only once. It is `undefined` if the event has no key. In that
   * case, do not make one up: two events with the same key would be taken for one.
   * @see eventKey
   */
  readonly key: string | undefined;
  /**
   * Aborts at the deadline (`ackWithin`), when the lease is lost, and at shutdown. In a queue worker,
   * it aborts when the queue reclaims the job, and at shutdown.
   */
  readonly signal: AbortSignal;
  /**
   * The `id` of the secret that verified the delivery. It is `undefined` in a queue worker and for an
   * event that was passed to `receiver.deliver`, since nothing was verified there.
   */
  readonly secretId: string | undefined;
  /**
   * `true` in a queue worker, where the delivery has already been answered with 202 and the queue does
   * the retries; `false` in a receiver.
   */
  readonly queued: boolean;
  /**
   * A copy of the raw body, byte for byte as it was signed. Changing it has no effect on anything else.
   */
  readonly rawBody: Uint8Array;
  /** The parsed JSON body as it was sent, before any schema changed it. */
  readonly body: unknown;
  /**
   * The fields of the body by name, including those that the type of the event does not have:
   * `payload['crmId']`. It is empty if the body is not an object.
   */
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * The seven fields of a call that the service describes without naming them (spec, "Call webhook
   * body"), read under the names in the option `fieldNames`. Their default names are guesses. A field
   * that is missing is `undefined`.
   */
  readonly call: CallDetails;
  /**
   * The logger of the request if the framework has one, and otherwise the logger of the receiver. What
   * you log is not redacted.
   * @example
   * context.log.info({ rows: 3 }, 'saved');
   */
  readonly log: HandlerLogger;
  /**
   * Marks the event as done in your own transaction, so that your writes and the mark are either both
   * committed or both rolled back. Await it before the transaction ends, and await the transaction.
   *
   * `tx` is a transaction on the database of the store (`postgresStore`, `mysqlStore`, `sqliteStore`)
   * or, in a worker, of the queue (`pgBossQueue`, `sqliteQueue`). If the transaction is rolled back,
   * the event is not done, and is retried.
   * @throws WebhookError if the lease was lost, if the event has no key, or if the store or the queue
   *   is not in such a database. Let the error roll back your transaction.
   * @example
   * await db.transaction(async (tx) => {
   *   await tx.insert(calls).values({ id: event.callId });
   *   await completeIn(tx);
   * });
   */
  // A method, so that a context may narrow `tx` and still is one.
  completeIn(this: void, tx: unknown): Promise<void>;
}

/** One delivery that was verified, or that comes from trusted code (`receiver.deliver`). */
export interface Delivery {
  readonly webhookId: string;
  /** When it was signed; Unix seconds. */
  readonly timestamp: number;
  /** Until when its webhook id must be remembered; milliseconds since the epoch. */
  readonly replayUntil: number;
  /**
   * As in the context of its handler. In its outcome, this is `redrive` if the command line sent it.
   */
  readonly source: DeliverySource;
  /** Only a `webhook` has one. */
  readonly secretId?: string | undefined;
  readonly tenant?: string | undefined;
  /** When the receiver had all of it; milliseconds since the epoch. */
  readonly receivedAt: number;
  /** For a dead letter: the number of runs before it was redriven. */
  readonly earlierAttempts?: number | undefined;
  /** For a dead letter: its id in the dead-letter store. */
  readonly letterId?: string | undefined;
  readonly rawBody: Uint8Array;
  readonly log: Logger;
}

/**
 * Handles one event. If it returns, or its promise resolves, the event is done. If it throws or its
 * promise rejects, the attempt has failed, and the service retries the event, or the queue runs the job
 * again.
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
  /** Why the payload can never be handled. It is identified nevertheless, as far as possible. */
  readonly invalid?: WebhookError | undefined;
  /** The outcome of a successful run. */
  readonly outcome: 'handled' | 'ignored';
  /** Absent without a handler. */
  readonly handle: Handler<unknown> | undefined;
}
