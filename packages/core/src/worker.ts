import { z } from 'zod';
import { fromBase64 } from './base64.ts';
import type { FieldNames } from './call-details.ts';
import { DeliveryContext } from './context.ts';
import type { Delivery } from './delivery.ts';
import type { ExtraEvents, HandlerOptions } from './handlers.ts';
import { handlerFailed, parked } from './job.ts';
import type { Logger } from './logger.ts';
import type { QueuedDelivery } from './queue.ts';
import { Routes, type Route } from './routes.ts';
import { checkedOptions, checkEventNames, handlerShape } from './settings.ts';
import type { StandardSchema } from './standard-schema.ts';
import { WebhookError } from './webhook-error.ts';

/** What runs for queued deliveries: the same typed handlers as a receiver's. */
export interface WorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends HandlerOptions<Extra, Custom> {
  fieldNames?: FieldNames | undefined;
  /** The engine's number of attempts: the last one's failure is handed to `deadLetter`. 3 by default. */
  maxAttempts?: number | undefined;
  logger?: Logger | undefined;
}

/** What the queue's engine knows of the run. */
export interface WorkerJob {
  /** 1 for the first run; 1 by default. */
  attempt?: number | undefined;
  /** Aborted when the engine takes the job back. */
  signal?: AbortSignal | undefined;
}

/** Runs one queued delivery. It rejects with a `WebhookError` when the engine should retry it. */
export type WorkerHandler = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<void>;

/**
 * The function that a queue's worker calls for each job. The engine does retries and back-off.
 *
 * It rejects with `handler-failed`, or `invalid-payload` (which no retry will heal). Both go to
 * `deadLetter` as well: the first with the last attempt, the second with the first.
 * @throws WebhookError `invalid-options`
 */
export function createWorkerHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: WorkerOptions<Extra, Custom>): WorkerHandler {
  const settings = checkedOptions(z.strictObject(handlerShape), options);
  checkEventNames(settings);
  const handlers = settings as unknown as HandlerOptions;
  const routes = new Routes(handlers);

  return async (queued, { attempt = 1, signal } = {}) => {
    const delivery: Delivery = {
      webhookId: queued.webhookId,
      timestamp: queued.timestamp,
      receivedAt: queued.receivedAt,
      rawBody: fromBase64(queued.body),
      log: settings.logger,
    };
    let route: Route | undefined;
    try {
      route = await routes.find(delivery.rawBody);
      await run(route, delivery, attempt, signal);
    } catch (error) {
      const final = route ? attempt === settings.maxAttempts : attempt === 1;
      const reason = route ? 'handler-failed' : 'invalid-payload';
      if (final) await handlers.deadLetter?.(parked(reason, delivery, attempt, error, route));
      throw route || !(error instanceof WebhookError)
        ? handlerFailed(error, route?.payload)
        : error;
    }
  };

  async function run(
    route: Route,
    delivery: Delivery,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const context = new DeliveryContext(
      delivery,
      route.payload,
      route.key,
      attempt,
      settings.fieldNames,
    );
    const abort = () => {
      context.abort(new WebhookError('shutting-down', 'The queue took the job back.'));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await route.handle?.(route.payload, context);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}
