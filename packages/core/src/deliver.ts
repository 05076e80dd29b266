import type { Delivery } from './delivery.ts';
import { WebhookError } from './errors.ts';
import type { CallEventMap, UnknownEvent } from './events/events.ts';
import type { DeliverySource, Outcome } from './outcomes.ts';
import type { ReceiverParts } from './receiver.ts';
import { CHANNELS, type DeliveryMessage, tracedDelivery } from './report/channels.ts';
import type { Logger } from './report/logger.ts';
import { type DeliveryInfo, failureResult, type Result } from './report/reporter.ts';
import { DeliveryProcessor } from './run-event.ts';
import { isTenantName } from './store/keys.ts';

/** Options of `receiver.deliver`. */
export interface DeliverOptions {
  /**
   * `'redrive'` by default: runs a dead-lettered event again. There is no later retry, so a failure
   * goes to `deadLetter` at once. `'reconcile'`: runs an event that never came, and no other.
   */
  source?: 'redrive' | 'reconcile' | undefined;
  /**
   * Whose event it is: needed with the option `tenant`, unless the input is a dead letter, which says
   * it itself.
   */
  tenant?: string | undefined;
  /** Aborts `context.signal` of the handler. */
  signal?: AbortSignal | undefined;
  /** The receiver's logger by default. */
  log?: Logger | undefined;
}

/** The way of a delivery from this process: without signature, replay check and deadline. */
export function createDeliver({ settings, limiter, reporter, deps }: ReceiverParts) {
  async function outcomeOf(
    input: DeliverInput,
    { source = 'redrive', tenant, signal, log = settings.logger }: DeliverOptions,
  ): Promise<Outcome> {
    const startedAt = performance.now();
    const info: DeliveryInfo = { source };
    let result: Result;
    try {
      const delivery = trustedDelivery(input, source, { now: settings.now(), log, tenant });
      if (delivery.tenant !== undefined) info.tenant = delivery.tenant;
      else if (settings.tenant) throw withoutTenant();
      info.webhookId = delivery.webhookId;
      const { length } = delivery.rawBody;
      if (length > settings.bodyLimit)
        throw new WebhookError('body-too-large', `The body has ${String(length)} bytes.`);
      limiter.check(delivery.tenant);
      const processor = new DeliveryProcessor(delivery, delivery.receivedAt, info, deps);
      processor.start(startedAt);
      result = processor.result ?? (await resultOf(processor, startedAt, delivery.tenant, signal));
    } catch (error) {
      if (error instanceof WebhookError && error.code === 'invalid-options') throw error;
      result = failureResult(error);
    }
    return reporter.report(startedAt, info, result, log);
  }

  async function resultOf(
    processor: DeliveryProcessor,
    startedAt: number,
    tenant: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const abort = () => {
      processor.abort(new WebhookError('shutting-down', 'The caller of deliver() aborted it.'));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const running = limiter.add(processor, startedAt, tenant);
    try {
      return await processor.done;
    } finally {
      limiter.delete(running);
      signal?.removeEventListener('abort', abort);
    }
  }

  return async (input: DeliverInput, options: DeliverOptions = {}): Promise<Outcome> => {
    checkSource(options.source, settings.store.reopen !== undefined);
    const channel = CHANNELS.delivery;
    if (channel?.hasSubscribers !== true) return outcomeOf(input, options);
    const run = async () => ({ outcome: await outcomeOf(input, options) });
    const message: DeliveryMessage = { source: options.source ?? 'redrive' };
    return (await tracedDelivery(channel, message, run)).outcome;
  };
}

const withoutTenant = () =>
  new WebhookError(
    'invalid-options',
    "deliver: this receiver has tenants. Say whose event it is with the option `tenant` of deliver or reconcile, or `defaultTenant` of redrive: { tenant: 'acme' }.",
  );

/** @throws WebhookError `invalid-options` */
function checkSource(source: unknown, canReopen: boolean): void {
  if (source !== undefined && source !== 'redrive' && source !== 'reconcile')
    throw new WebhookError(
      'invalid-options',
      "deliver: source: expected 'redrive' or 'reconcile'.",
    );
  // Such a store takes dead letters for handled events, and they would look like duplicates.
  if (source !== 'reconcile' && !canReopen)
    throw new WebhookError(
      'invalid-options',
      'deliver: the store has no reopen(), which redriving needs.',
    );
}

/** A raw delivery with what is known of it. A `DeadLetter`, and a stored one, is such a delivery. */
export interface RawDelivery {
  /** Byte for byte. */
  readonly rawBody: Uint8Array;
  /** Whose it is. */
  readonly tenant?: string | undefined;
  /** A new one by default. */
  readonly webhookId?: string | undefined;
  /** When it was signed; now by default. */
  readonly timestamp?: Date | undefined;
  /** How often it was run before; 0 by default. */
  readonly attempt?: number | undefined;
  /** The id of the stored dead letter, which a new failure is added to. */
  readonly id?: string | undefined;
}

/** An event of the service, one of the option `events`, or a custom payload: anything that JSON can hold. */
export type TrustedEvent =
  CallEventMap[keyof CallEventMap] | UnknownEvent | Readonly<Record<string, unknown>>;

/** What `receiver.deliver` takes: a raw body, a raw delivery or dead letter, or an event. */
export type DeliverInput = Uint8Array | RawDelivery | TrustedEvent;

/**
 * The delivery of an input that did not come over the network.
 * @param options.now milliseconds since the epoch
 * @throws WebhookError `invalid-payload` for an event that is not JSON, `invalid-options` for anything
 *   that is no input
 */
export function trustedDelivery(
  input: DeliverInput,
  source: Extract<DeliverySource, 'redrive' | 'reconcile'>,
  { now, log, ...options }: { now: number; log: Logger; tenant: string | undefined },
): Delivery {
  const { rawBody, webhookId, timestamp, attempt, id, tenant } = rawDelivery(input);
  const of = options.tenant ?? tenant;
  if (of !== undefined && !isTenantName(of))
    throw new WebhookError(
      'invalid-options',
      'deliver: tenant: expected a text of 1 to 128 printable characters.',
    );
  return {
    source,
    ...(of !== undefined && { tenant: of }),
    webhookId: webhookId ?? `${source}-${crypto.randomUUID()}`,
    timestamp: Math.floor((timestamp?.getTime() ?? now) / 1000),
    receivedAt: now,
    rawBody,
    earlierAttempts: attempt ?? 0,
    ...(id !== undefined && { letterId: id }),
    log,
  };
}

function rawDelivery(input: DeliverInput): RawDelivery {
  if (isBytes(input)) return { rawBody: input };
  if (typeof input !== 'object' || (input as unknown) === null)
    throw new WebhookError(
      'invalid-options',
      'deliver: expected raw bytes, a raw delivery, a dead letter or an event.',
    );
  if (isBytes((input as RawDelivery).rawBody)) return input as RawDelivery;
  return { rawBody: new TextEncoder().encode(jsonOf(input)) };
}

function jsonOf(event: object): string {
  try {
    return JSON.stringify(event);
  } catch {
    throw new WebhookError('invalid-payload', 'deliver: the event cannot be written as JSON.');
  }
}

/** `instanceof` would not know the bytes of another realm. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && 'BYTES_PER_ELEMENT' in value && value.BYTES_PER_ELEMENT === 1;
