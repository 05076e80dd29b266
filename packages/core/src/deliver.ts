import type { Delivery } from './delivery.ts';
import { invalidOptions, WebhookError } from './errors.ts';
import type { CallEventMap, UnknownEvent } from './events/events.ts';
import { isBytes, ownBytes } from './http/request.ts';
import type { Outcome, PendingOutcome, Result } from './outcomes.ts';
import { tracedDelivery } from './report/channels.ts';
import type { Logger } from './report/logger.ts';
import { failureResult } from './report/reporter.ts';
import { EventRun, type ReceiverParts } from './run-event.ts';
import { newWebhookId } from './sender.ts';
import { isTenantName } from './store/keys.ts';

/**
 * A raw body, with everything else that is known about its delivery. A `DeadLetter` and a stored dead
 * letter are such deliveries.
 */
export interface RawDelivery {
  /** The raw body, byte for byte as it was sent. */
  readonly rawBody: Uint8Array;
  /** The tenant that the event belongs to. The option `tenant` of `deliver` takes precedence. */
  readonly tenant?: string | undefined;
  /** The webhook id of the delivery; a new one by default. */
  readonly webhookId?: string | undefined;
  /** The time at which the delivery was signed; now by default. */
  readonly timestamp?: Date | undefined;
  /** The number of earlier attempts at the event; 0 by default. */
  readonly attempt?: number | undefined;
  /** The id of the stored dead letter, to which a new failure is added. */
  readonly id?: string | undefined;
}

/**
 * An event as an object: one of the service, one of the option `events`, or a custom payload. It must
 * be serializable as JSON.
 */
export type TrustedEvent =
  CallEventMap[keyof CallEventMap] | UnknownEvent | Readonly<Record<string, unknown>>;

/**
 * What `receiver.deliver` takes: a raw body, a raw delivery, a dead letter, or an event as an object.
 */
export type DeliverInput = Uint8Array | RawDelivery | TrustedEvent;

/** The options of `receiver.deliver`. */
export interface DeliverOptions {
  /**
   * Why the event is run. `'redrive'` (the default) runs a dead-lettered event again; no retry follows,
   * so a failure goes to `deadLetter` at once. `'reconcile'` runs an event that never arrived; it skips
   * events that were handled or dead-lettered.
   */
  source?: 'redrive' | 'reconcile' | undefined;
  /**
   * The tenant that the event belongs to. It is required in a receiver with the option `tenant`, unless
   * the input is a dead letter, which records its tenant.
   */
  tenant?: string | undefined;
  /** Aborts `context.signal` of the handler when it aborts. */
  signal?: AbortSignal | undefined;
  /** The logger for this delivery; the logger of the receiver by default. */
  log?: Logger | undefined;
}

/**
 * Runs a delivery that did not arrive over the network: without signature, replay check and deadline.
 * @throws WebhookError `invalid-options`; every other failure is an outcome
 */
export async function deliver(
  input: DeliverInput,
  options: DeliverOptions,
  parts: ReceiverParts,
): Promise<Outcome> {
  const { source = 'redrive' } = options;
  checkSource(source, parts.settings.store.reopen !== undefined);
  const step = async () => ({ outcome: await run(input, options, parts) });
  return (await tracedDelivery(() => ({ source }), step)).outcome;
}

async function run(
  input: DeliverInput,
  { source = 'redrive', tenant, signal, log }: DeliverOptions,
  parts: ReceiverParts,
): Promise<Outcome> {
  const { settings, reporter } = parts;
  const startedAt = performance.now();
  const pending: PendingOutcome = { source };
  const logger = log ?? settings.logger;
  let result: Result;
  try {
    const delivery = trustedDelivery(input, source, settings.now(), logger, tenant);
    if (delivery.tenant !== undefined) pending.tenant = delivery.tenant;
    else if (settings.tenant) throw withoutTenant();
    pending.webhookId = delivery.webhookId;
    const { length } = delivery.rawBody;
    if (length > settings.bodyLimit)
      throw new WebhookError('body-too-large', `The body has ${String(length)} bytes.`);
    const running = new EventRun(delivery, pending, startedAt, parts);
    const abort = () => {
      running.abort(new WebhookError('shutting-down', 'The caller of deliver() aborted the run.'));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    result = await running.run().finally(() => signal?.removeEventListener('abort', abort));
  } catch (error) {
    if (error instanceof WebhookError && error.code === 'invalid-options') throw error;
    result = failureResult(error);
  }
  return reporter.report(startedAt, pending, result, logger);
}

/**
 * The delivery for an input that did not arrive over the network.
 * @param now milliseconds since the epoch
 * @throws WebhookError `invalid-payload` for an event that is not JSON, `invalid-options` for anything
 *   that is not an input
 */
function trustedDelivery(
  input: DeliverInput,
  source: 'redrive' | 'reconcile',
  now: number,
  log: Logger,
  givenTenant: string | undefined,
): Delivery {
  const raw = rawDelivery(input);
  const { rawBody, webhookId, timestamp, attempt, id } = raw;
  const tenant = givenTenant ?? raw.tenant;
  if (tenant !== undefined && !isTenantName(tenant))
    throw invalidOptions('deliver: tenant: expected a string of 1 to 128 printable characters.');
  return {
    source,
    tenant,
    webhookId: webhookId ?? newWebhookId(source),
    timestamp: Math.floor((timestamp?.getTime() ?? now) / 1000),
    receivedAt: now,
    replayUntil: now,
    rawBody: ownBytes(rawBody),
    earlierAttempts: attempt ?? 0,
    letterId: id,
    log,
  };
}

function rawDelivery(input: DeliverInput): RawDelivery {
  if (isBytes(input)) return { rawBody: input };
  if (typeof input !== 'object' || (input as unknown) === null)
    throw invalidOptions('deliver: expected raw bytes, a raw delivery, a dead letter or an event.');
  if (isBytes((input as RawDelivery).rawBody)) return input as RawDelivery;
  // It would be taken for an event, and run without its fields.
  if ('history' in input && 'bytes' in input)
    throw invalidOptions(
      'deliver: this dead letter comes from a list, which does not read bodies. Pass `await deadLetters.get(id)`.',
    );
  return { rawBody: new TextEncoder().encode(jsonOf(input)) };
}

function jsonOf(event: object): string {
  try {
    return JSON.stringify(event);
  } catch {
    throw new WebhookError('invalid-payload', 'deliver: the event cannot be written as JSON.');
  }
}

const withoutTenant = () =>
  invalidOptions(
    "deliver: this receiver has tenants. Name the tenant of the event with the option `tenant` of deliver or reconcile, or `defaultTenant` of redrive: { tenant: 'acme' }.",
  );

/** @throws WebhookError `invalid-options` */
function checkSource(source: unknown, canReopen: boolean): void {
  if (source !== 'redrive' && source !== 'reconcile')
    throw invalidOptions("deliver: source: expected 'redrive' or 'reconcile'.");
  // Such a store takes dead letters for handled events, and they would look like duplicates.
  if (source !== 'reconcile' && !canReopen)
    throw invalidOptions(
      'deliver: this store cannot redrive events, because it has no reopen(). Use a store that has it.',
    );
}
