import { inThisContext } from '#platform';
import { docsUrl, WebhookError } from '../errors.ts';
import type { DeliverySource } from '../outcomes.ts';
import { handlerLogger, type HandlerLogger, type Logger } from '../report/logger.ts';
import type { Authentic } from '../signature/verify.ts';
import { callDetails, type CallDetails, type FieldNames } from './call-details.ts';
import { isRecord } from './events.ts';
import type { Route } from './route.ts';

/** What a handler gets besides the event. `{ ...context, db }` keeps every property. */
export interface HandlerContext {
  /** Where it comes from. */
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

/** One verified or trusted delivery. */
export interface Delivery extends Pick<Authentic, 'webhookId' | 'timestamp' | 'replayUntil'> {
  /** How it came in: what the command line redrives over the network is a `webhook`. */
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

/** The `signal` of a context. It is created only if it is read: most handlers don't. */
export class LazySignal {
  #controller: AbortController | undefined;
  /** Whoever aborts it, its listeners run in the async context of the handler that read it. */
  #tellListeners: (() => void) | undefined;
  #reason: WebhookError | undefined;

  /** The first reason counts. */
  abort(reason: WebhookError): void {
    this.#reason ??= reason;
    this.#tellListeners?.();
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#tellListeners = inThisContext(() => controller.abort(this.#reason));
      if (this.#reason) controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}

const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * The context of one run. Its properties are its own, so that a spread copies them; `signal` and `call`
 * are made when they are read.
 */
export class DeliveryContext implements HandlerContext {
  readonly source: DeliverySource;
  declare readonly tenant?: string;
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
  declare readonly signal: AbortSignal;
  declare readonly call: CallDetails;
  readonly #event: unknown;
  readonly #fieldNames: FieldNames;
  readonly #abort: LazySignal;
  readonly #transactions: Transactions;

  // Written once. V8 allocates the functions of a getter in an object literal as old, with all that
  // they refer to: of 10 MB of deliveries, 8 then stay until a full collection (decision 15).
  static readonly #getSignal: PropertyDescriptor & ThisType<DeliveryContext> = {
    enumerable: true,
    get() {
      return this.#abort.signal;
    },
  };
  static readonly #getCall: PropertyDescriptor & ThisType<DeliveryContext> = {
    enumerable: true,
    get() {
      return callDetails(Object(this.#event) as object, this.#fieldNames);
    },
  };

  constructor(
    { source, tenant, webhookId, timestamp, receivedAt, secretId, rawBody, log }: Delivery,
    { key, body, event }: Pick<Route, 'key' | 'body' | 'event'>,
    attempt: number,
    fieldNames: FieldNames,
    abort: LazySignal,
    transactions: Transactions,
  ) {
    this.source = source;
    if (tenant !== undefined) this.tenant = tenant;
    this.webhookId = webhookId;
    this.timestamp = new Date(timestamp * 1000);
    this.receivedAt = new Date(receivedAt);
    this.attempt = attempt;
    this.key = key;
    this.secretId = secretId;
    this.queued = source === 'queue';
    this.rawBody = rawBody;
    this.body = body;
    this.payload = isRecord(body) ? body : NO_FIELDS;
    this.log = handlerLogger(log);
    this.#event = event;
    this.#fieldNames = fieldNames;
    this.#abort = abort;
    this.#transactions = transactions;
    Object.defineProperty(this, 'signal', DeliveryContext.#getSignal);
    Object.defineProperty(this, 'call', DeliveryContext.#getCall);
  }

  readonly completeIn = (tx: unknown): Promise<void> => this.#transactions.completeIn(tx);
}

/** What a run can mark as done in a transaction of the user: a leased event, or the job of a queue. */
export interface Completable {
  /** Resolves with `false` if the lease was lost. */
  completeIn(tx: unknown): boolean | PromiseLike<boolean>;
}

/** The calls of `context.completeIn` in one run. */
export class Transactions {
  /** Whether `completeIn` was called. */
  called = false;
  /** Whether a transaction was told to roll back. */
  leaseLost = false;
  readonly #target: Completable | undefined;
  #running = 0;
  #marked = false;
  #ended = false;
  #lateCall: WebhookError | undefined;
  #onLateCall: ((refusal: WebhookError) => void) | undefined;

  /** @param target what a call marks as done; absent if there is nothing in a database */
  constructor(target: Completable | undefined) {
    this.#target = target;
  }

  /** Whether a transaction may be committed that marks the run as done. */
  get mayBeDone(): boolean {
    return this.#marked || this.#running > 0;
  }

  /** The handler has ended, so it can complete nothing any more. */
  end(): void {
    this.#ended = true;
  }

  /** The event is done, so what a `completeIn` that comes too late would mark is lost. */
  onLateCall(report: (refusal: WebhookError) => void): void {
    if (this.#lateCall) report(this.#lateCall);
    else this.#onLateCall = report;
  }

  /**
   * Throws at once what a synchronous client throws: its transactions wait for no promise.
   * @throws WebhookError
   */
  completeIn(tx: unknown): Promise<void> {
    if (this.#ended) throw this.#tooLate();
    this.called = true;
    if (!this.#target)
      throw new WebhookError(
        'invalid-options',
        'completeIn: this queue is in no database that a transaction of yours could reach. Use pgBossQueue or sqliteQueue, or context.key.',
        { docs: docsUrl('exactly-once.md#workers') },
      );
    const answer = this.#target.completeIn(tx);
    if (typeof answer !== 'boolean') return this.#wait(answer);
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
    this.leaseLost = true;
    throw new WebhookError(
      'in-progress',
      'completeIn: the lease was lost, so another delivery of the event may be running. Let this error roll back the transaction.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
  }

  #tooLate(): WebhookError {
    const refusal = new WebhookError(
      'handler-failed',
      'completeIn: the handler has ended. Await the transaction in the handler.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
    this.#lateCall ??= refusal;
    this.#onLateCall?.(refusal);
    this.#onLateCall = undefined; // once is enough
    return refusal;
  }
}

export const notCommitted = () =>
  new Error('The handler succeeded, but the transaction of completeIn was not committed.');
