import { inThisContext } from '#platform';
import type { Route, Delivery, HandlerContext } from '../delivery.ts';
import type { WebhookError } from '../errors.ts';
import type { DeliverySource } from '../outcomes.ts';
import { handlerLogger, type HandlerLogger } from '../report/logger.ts';
import type { Transactions } from '../store/transactions.ts';
import { callDetails, type CallDetails, type FieldNames } from './call-details.ts';
import { isRecord } from './events.ts';

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
 * The context of one run. Its properties are its own, so that a spread copies them; `rawBody`, `signal`
 * and `call` are made when they are read.
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
  readonly body: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly log: HandlerLogger;
  declare readonly rawBody: Uint8Array;
  declare readonly signal: AbortSignal;
  declare readonly call: CallDetails;
  readonly #rawBody: Uint8Array;
  #copiedBody: Uint8Array | undefined;
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
  static readonly #getRawBody: PropertyDescriptor & ThisType<DeliveryContext> = {
    enumerable: true,
    get() {
      return (this.#copiedBody ??= new Uint8Array(this.#rawBody));
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
    this.#rawBody = rawBody;
    this.body = body;
    this.payload = isRecord(body) ? body : NO_FIELDS;
    this.log = handlerLogger(log);
    this.#event = event;
    this.#fieldNames = fieldNames;
    this.#abort = abort;
    this.#transactions = transactions;
    Object.defineProperty(this, 'rawBody', DeliveryContext.#getRawBody);
    Object.defineProperty(this, 'signal', DeliveryContext.#getSignal);
    Object.defineProperty(this, 'call', DeliveryContext.#getCall);
  }

  readonly completeIn = (tx: unknown): Promise<void> => this.#transactions.completeIn(tx);
}
