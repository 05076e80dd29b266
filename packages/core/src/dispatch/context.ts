import { callDetails, type CallDetails, type FieldNames } from '../events/call-details.ts';
import type { Logger } from '../reporting/logger.ts';
import type { Delivery } from './delivery.ts';

/** What a handler knows besides the event. */
export interface HandlerContext {
  /** A new one for each attempt of the service: never use it to tell events apart. */
  readonly webhookId: string;
  /** When this attempt was signed. */
  readonly timestamp: Date;
  /** 1 for the first time that this event is run, as far as the store knows. */
  readonly attempt: number;
  /** The idempotency key: use it to make an effect happen exactly once. Some events have none. */
  readonly key: string | undefined;
  /** Aborted at the deadline (`ackWithin`), when the lease is lost, and at shutdown. */
  readonly signal: AbortSignal;
  /** The `id` of the secret that verified the delivery; `undefined` in a queue's worker. */
  readonly secretId: string | undefined;
  /** `true` in a queue's worker: the service was answered 202 before, and the engine retries. */
  readonly queued: boolean;
  /** The raw body, byte for byte as it was signed. */
  readonly rawBody: Uint8Array;
  /** The seven fields that the spec describes by meaning, under the configured `fieldNames`. */
  readonly call: CallDetails;
  /** The request's logger where the framework has one, else the receiver's. */
  readonly log: Logger;
}

/** Makes the costly parts (an AbortController, the call's details) only for handlers that look at them. */
export class DeliveryContext implements HandlerContext {
  readonly attempt: number;
  readonly key: string | undefined;
  readonly #delivery: Delivery;
  readonly #event: unknown;
  readonly #fieldNames: FieldNames;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(
    delivery: Delivery,
    event: unknown,
    key: string | undefined,
    attempt: number,
    fieldNames: FieldNames,
  ) {
    this.attempt = attempt;
    this.key = key;
    this.#delivery = delivery;
    this.#event = event;
    this.#fieldNames = fieldNames;
  }

  get webhookId() {
    return this.#delivery.webhookId;
  }
  get timestamp() {
    return new Date(this.#delivery.timestamp * 1000);
  }
  get secretId() {
    return this.#delivery.secretId;
  }
  get queued() {
    return this.#delivery.queued === true;
  }
  get rawBody() {
    return this.#delivery.rawBody;
  }
  get log() {
    return this.#delivery.log;
  }
  get call() {
    return callDetails(Object(this.#event) as object, this.#fieldNames);
  }
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** For the receiver; the handler's type does not show it. The first reason stands. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(this.#abortReason);
  }
}
