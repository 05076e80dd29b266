import { type Awaitable, isPending } from '../awaitable.ts';
import type { Delivery } from '../delivery.ts';
import { docsUrl, WebhookError } from '../errors.ts';
import type { DeliverySource } from '../outcomes.ts';
import { handlerLogger, type HandlerLogger } from '../report/logger.ts';
import { callDetails, type CallDetails, type FieldNames } from './call-details.ts';
import { isRecord } from './events.ts';

/** What a handler gets besides the event. `{ ...context, db }` keeps every property. */
export interface HandlerContext {
  /**
   * `'webhook'`, `'queue'` in a queue's worker, `'redrive'` for a dead letter that is run again, or
   * `'reconcile'` for a call that was missed.
   */
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
  /** The idempotency key: use it to make an effect happen exactly once. Some events have none. */
  readonly key: string | undefined;
  /** Aborted at the deadline (`ackWithin`), when the lease is lost, and at shutdown. */
  readonly signal: AbortSignal;
  /** The `id` of the secret that verified the delivery. Only a `webhook` has it. */
  readonly secretId: string | undefined;
  /** `true` in a queue's worker: the service already got 202, and the queue retries. */
  readonly queued: boolean;
  /** The raw body, byte for byte as it was signed. */
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
   * It takes the transaction of a client on the database of the store (`postgresStore`,
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

/** What a context takes from the route of its delivery. */
interface RoutedPayload {
  readonly key: string | undefined;
  readonly body: unknown;
  readonly payload: unknown;
}

const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({});

/** The context of one run. `signal` and `call` are created only for handlers that read them. */
export class DeliveryContext implements HandlerContext {
  readonly source: DeliverySource;
  readonly webhookId: string;
  readonly timestamp: Date;
  readonly receivedAt: Date;
  readonly attempt: number;
  readonly key: string | undefined;
  readonly secretId: string | undefined;
  readonly queued: boolean;
  readonly rawBody: Uint8Array;
  readonly body: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly log: HandlerLogger;
  declare readonly tenant?: string;
  declare readonly signal: AbortSignal;
  declare readonly call: CallDetails;
  readonly #event: unknown;
  readonly #fieldNames: FieldNames;
  #completable: Completable | undefined;
  #transactions: Transactions | undefined;
  #ended = false;
  #lateCall: WebhookError | undefined;
  #onLateCall: ((refusal: WebhookError) => void) | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(
    delivery: Delivery,
    { key, body, payload }: RoutedPayload,
    attempt: number,
    fieldNames: FieldNames,
  ) {
    this.source = delivery.source;
    if (delivery.tenant !== undefined) this.tenant = delivery.tenant;
    this.webhookId = delivery.webhookId;
    this.timestamp = new Date(delivery.timestamp * 1000);
    this.receivedAt = new Date(delivery.receivedAt);
    this.attempt = attempt;
    this.key = key;
    this.secretId = delivery.secretId;
    this.queued = delivery.source === 'queue';
    this.rawBody = delivery.rawBody;
    this.body = body;
    this.payload = isRecord(body) ? body : NO_FIELDS;
    this.log = handlerLogger(delivery.log);
    this.#event = payload;
    this.#fieldNames = fieldNames;
    // Own properties, so that a spread copies them. `defineProperties` would take twice as long.
    Object.defineProperty(this, 'signal', DeliveryContext.#signal);
    Object.defineProperty(this, 'call', DeliveryContext.#call);
  }

  readonly completeIn = (tx: unknown): Promise<void> => {
    if (this.#ended) throw this.#refuseLateCall();
    this.#transactions ??= new Transactions(this.#completable);
    return this.#transactions.completeIn(tx);
  };

  #refuseLateCall(): WebhookError {
    const refusal = tooLate();
    this.#lateCall ??= refusal;
    this.#onLateCall?.(refusal);
    this.#onLateCall = undefined; // once is enough
    return refusal;
  }

  static readonly #signal: PropertyDescriptor & ThisType<DeliveryContext> = {
    enumerable: true,
    get() {
      return this.#abortSignal();
    },
  };

  static readonly #call: PropertyDescriptor & ThisType<DeliveryContext> = {
    enumerable: true,
    get() {
      return callDetails(Object(this.#event) as object, this.#fieldNames);
    },
  };

  #abortSignal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  // The rest is for the receiver, and not part of `HandlerContext`.

  /** The transactions of `completeIn`, if it was called. */
  get transactions(): Transactions | undefined {
    return this.#transactions;
  }

  /** What `completeIn` marks as done. */
  set completable(completable: Completable | undefined) {
    this.#completable = completable;
  }

  /** The handler has ended, so it can complete nothing any more. */
  end(): void {
    this.#ended = true;
  }

  /**
   * The event is done, so what a `completeIn` that comes too late would mark is lost. No setter: V8
   * allocates a function that is written in an assignment as old, with all it refers to (decision 15).
   */
  reportLateCalls(report: (refusal: WebhookError) => void): void {
    if (this.#lateCall) report(this.#lateCall);
    else this.#onLateCall = report;
  }

  /** The first reason counts. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(this.#abortReason);
  }
}

/** What a run can mark as done in a transaction of the user: a leased event, or the job of a queue. */
export interface Completable {
  /** Resolves with `false` if the lease was lost. */
  completeIn(tx: unknown): Awaitable<boolean>;
}

/** The error of a call that comes after the handler has ended. */
export const tooLate = () =>
  new WebhookError(
    'handler-failed',
    'completeIn: the handler has ended. Await the transaction in the handler.',
    { docs: docsUrl('exactly-once.md#your-own-database') },
  );

/** The calls of `context.completeIn` in one run. */
export class Transactions {
  readonly #target: Completable | undefined;
  #running = 0;
  #marked = false;
  #leaseLost = false;

  constructor(target: Completable | undefined) {
    this.#target = target;
  }

  /** Whether a transaction may be committed that marks the run as done. */
  get mayBeDone(): boolean {
    return this.#marked || this.#running > 0;
  }

  /** Whether a transaction was told to roll back. */
  get leaseLost(): boolean {
    return this.#leaseLost;
  }

  /**
   * Throws at once what a synchronous client throws: its transactions wait for no promise.
   * @throws WebhookError
   */
  completeIn(tx: unknown): Promise<void> {
    if (!this.#target)
      throw new WebhookError(
        'invalid-options',
        'completeIn: this queue is in no database that a transaction of yours could reach. Use pgBossQueue or sqliteQueue, or context.key.',
        { docs: docsUrl('exactly-once.md#workers') },
      );
    const answer = this.#target.completeIn(tx);
    if (isPending(answer)) return this.#wait(answer);
    this.#note(answer);
    return Promise.resolve();
  }

  async #wait(answer: PromiseLike<boolean>): Promise<void> {
    this.#running += 1;
    let held: boolean;
    try {
      held = await answer;
    } catch (error) {
      this.#marked = true; // the statement may have been applied
      throw error;
    } finally {
      this.#running -= 1;
    }
    this.#note(held);
  }

  #note(held: boolean): void {
    if (held) {
      this.#marked = true;
      return;
    }
    this.#leaseLost = true;
    throw new WebhookError(
      'in-progress',
      'completeIn: the lease was lost, so another delivery of the event may be running. Let this error roll back the transaction.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
  }
}
