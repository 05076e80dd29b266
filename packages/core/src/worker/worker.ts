import { z } from 'zod';
import { fromBase64 } from '../base64.ts';
import { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/delivery.ts';
import type { ExtraEvents, HandlerOptions, DeadLetter } from '../dispatch/handlers.ts';
import { describeSinkError, handlerFailed, toDeadLetter } from '../dispatch/job.ts';
import { Routes, type Route } from '../dispatch/routes.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/standard-schema.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { QueuedDelivery } from '../queue/queue.ts';
import { checkedOptions, checkEventNames, handlerShape } from '../receiver/settings.ts';
import type { Logger } from '../reporting/logger.ts';

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
  /** 1 for the first run; 1 by default. Counts runs that ended with their process as well. */
  attempt?: number | undefined;
  /** Whether the engine gives up when this run fails; `attempt >= maxAttempts` by default. */
  isLastAttempt?: boolean | undefined;
  /** Set: the job is not to be run any more, for this reason, and goes to `deadLetter` as it is. */
  abandonReason?: Error | undefined;
  /** Aborted when the engine takes the job back. */
  signal?: AbortSignal | undefined;
}

/** Runs one queued delivery. It rejects with a `WebhookError` when the engine should retry it. */
export type WorkerHandler = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<void>;

/**
 * The function that a queue's worker calls for each job. The engine does retries and back-off.
 *
 * It rejects with `handler-failed`, or `invalid-payload`, which no retry will heal: the engine
 * should put it among its dead letters at once. Both go to `deadLetter` before: the first with the
 * last attempt, the second with each. While the sink fails it is `handler-failed`, to be retried.
 * @throws WebhookError `invalid-options`
 */
export function createWorkerHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: WorkerOptions<Extra, Custom>): WorkerHandler {
  const settings = checkedOptions(z.strictObject(handlerShape()), options);
  checkEventNames(settings);
  const handlers = settings as unknown as HandlerOptions;
  const routes = new Routes(handlers);

  return async (queued, job = {}) => {
    const {
      attempt = 1,
      isLastAttempt = attempt >= settings.maxAttempts,
      abandonReason,
      signal,
    } = job;
    const delivery = deliveryOf(queued, settings.logger);
    let route: Route | undefined;
    try {
      route = await routes.find(delivery.rawBody);
      if (abandonReason) throw abandonReason;
      await run(route, delivery, attempt, signal);
    } catch (error) {
      const invalid = error instanceof WebhookError && error.code === 'invalid-payload' && !route;
      if (invalid || isLastAttempt || abandonReason) {
        const reason = invalid ? 'invalid-payload' : 'handler-failed';
        await park(toDeadLetter(reason, delivery, attempt, error, route));
      }
      throw error instanceof WebhookError && !route ? error : handlerFailed(error, route?.personal);
    }
  };

  async function park(delivery: DeadLetter): Promise<void> {
    try {
      await handlers.deadLetter?.(delivery);
    } catch (error) {
      const why = describeSinkError(error, delivery.rawBody);
      throw new WebhookError('handler-failed', `The deadLetter sink failed: ${why}`);
    }
  }

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

function deliveryOf(queued: QueuedDelivery, log: Logger): Delivery {
  const { webhookId, timestamp, receivedAt, body } = queued;
  try {
    return { webhookId, timestamp, receivedAt, queued: true, rawBody: fromBase64(body), log };
  } catch {
    throw new WebhookError('invalid-payload', 'The queued delivery has no base64 body.');
  }
}
