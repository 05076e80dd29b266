import { CHANNELS, type DeliveryMessage } from '../channels/channels.ts';
import type { Outcome } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Logger } from '../reporting/logger.ts';
import { failureResult, type DeliveryInfo, type Result } from '../reporting/reporter.ts';
import { tracedDelivery } from '../reporting/traced-delivery.ts';
import type { ReceiverParts } from './parts.ts';
import { DeliveryProcessor } from './process-delivery.ts';
import { trustedDelivery, type DeliverInput } from './trusted-delivery.ts';

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
