import type { Delivery } from '../dispatch/delivery.ts';
import type { CallEventMap, UnknownEvent } from '../events/events.ts';
import type { DeliverySource } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Logger } from '../reporting/logger.ts';
import { isTenantName } from '../tenant.ts';

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
