import * as z from 'zod';
import { fromBase64 } from '../base64.ts';
import { checkAgainst } from '../check-options.ts';
import { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/context.ts';
import type { ExtraEvents, HandlerOptions } from '../dispatch/handlers.ts';
import { describeSinkError, handlerFailed } from '../dispatch/job.ts';
import { Routes, type Route } from '../dispatch/routes.ts';
import { toDeadLetter } from '../dispatch/to-dead-letter.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/schema.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { QueuedDelivery } from '../queue.ts';
import { checkEventNames, handlerShape } from '../receiver/settings.ts';
import type { Logger } from '../reporting/logger.ts';
import { safeLogger } from '../reporting/logger.ts';
import type { DeadLetter, DeadLetterSink } from '../store/dead-letter.ts';
import { jobLine, type JobInfo } from './job-line.ts';

/** The handlers of a worker, as a receiver has them. */
export interface WorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends HandlerOptions<Extra, Custom> {
  fieldNames?: FieldNames | undefined;
  /** How often a job is run before it is handed to `deadLetter`; 3 by default. */
  maxAttempts?: number | undefined;
  /** Gets a line for each failed attempt; `console` by default. */
  logger?: Logger | undefined;
}

/** What a queue's engine knows about one run of a job. */
export interface WorkerJob {
  /** 1 for the first run, which is the default. Runs that ended with their process count as well. */
  attempt?: number | undefined;
  /** How many runs the engine makes; the worker's option by default. */
  maxAttempts?: number | undefined;
  /** Whether the engine gives up when this run fails; `attempt >= maxAttempts` by default. */
  isLastAttempt?: boolean | undefined;
  /** If set, no handler is run: the job goes to `deadLetter` for this reason. */
  abandonReason?: Error | undefined;
  /** Aborted when the engine takes the job back. */
  signal?: AbortSignal | undefined;
}

/** What the engine has to do with a job after a run. */
export type JobResult =
  | { status: 'done' }
  /**
   * Run it again later. With `abandonReason` the attempts are used up and `deadLetter` failed: pass
   * the reason on to the next run, which then calls `deadLetter` only.
   */
  | { status: 'retry'; error: WebhookError; abandonReason?: string }
  /** Never run it again; `deadLetter` has it. */
  | { status: 'dead'; error: WebhookError };

/** Runs one queued delivery. Never rejects. */
export type JobProcessor = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<JobResult>;

/**
 * Creates the function that a queue's worker calls for each job: it finds the handler, runs it, and
 * calls `deadLetter` after the last attempt. The engine does retries and backoff.
 * @throws WebhookError `invalid-options`
 * @example
 * const process = createJobProcessor({ on: { 'call:completed': saveCall } });
 * const result = await process(job.delivery, { attempt: job.attempt, isLastAttempt: job.attempt >= 100 });
 * if (result.status === 'retry') await engine.retryLater(job);
 */
export function createJobProcessor<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: WorkerOptions<Extra, Custom>): JobProcessor {
  const settings = checkAgainst(z.strictObject(handlerShape()), options);
  checkEventNames(settings);
  const { fieldNames, logger } = settings;
  const deadLetter: DeadLetterSink | undefined = settings.deadLetter;
  const routes = new Routes(settings);

  return async (queued, job = {}) => {
    const { webhookId, eventName, key } = queued;
    const { attempt = 1, maxAttempts = attemptsOf(job, settings.maxAttempts) } = job;
    const seen: JobInfo = { webhookId, eventName, key, attempt, maxAttempts };
    const result = await runAttempt(queued, job, seen);
    if (result.status === 'done') return result;
    const { level, fields, message } = jobLine(result.error, result.status === 'dead', seen);
    safeLogger(logger)[level](fields, message);
    return result;
  };

  async function runAttempt(
    queued: QueuedDelivery,
    { signal, abandonReason, ...job }: WorkerJob,
    seen: JobInfo,
  ): Promise<JobResult> {
    const { attempt, maxAttempts = Infinity } = seen;
    const { isLastAttempt = attempt >= maxAttempts } = job;
    let delivery: Delivery | undefined;
    let route: Route | undefined;
    try {
      delivery = deliveryOf(queued, logger);
      route = withQueuedKey(await routes.find(delivery.rawBody), queued);
      const { eventName, callId, key } = route;
      Object.assign(seen, { eventName, callId, key });
      if (abandonReason) throw abandonReason;
      const context = new DeliveryContext(delivery, route, attempt, fieldNames);
      await runHandler(route, context, signal);
      return { status: 'done' };
    } catch (thrown) {
      const error = failureOf(thrown, route);
      const isInvalid = error.code === 'invalid-payload';
      if (!isInvalid && !isLastAttempt && !abandonReason) return { status: 'retry', error };
      if (!delivery) return { status: 'dead', error };
      const reason = isInvalid ? 'invalid-payload' : 'handler-failed';
      const failure = { attempt, error: thrown, at: Date.now(), route };
      const sinkError = await sendToDeadLetter(toDeadLetter(reason, delivery, failure));
      if (!sinkError) return { status: 'dead', error };
      return {
        status: 'retry',
        error: sinkError,
        abandonReason: abandonReason?.message ?? error.message,
      };
    }
  }

  async function sendToDeadLetter(letter: DeadLetter): Promise<WebhookError | undefined> {
    try {
      await deadLetter?.(letter);
      return undefined;
    } catch (error) {
      const why = describeSinkError(error, letter.rawBody);
      return storable(new WebhookError('handler-failed', `The deadLetter sink failed: ${why}`));
    }
  }
}

/** An engine that decides about the last attempt has a limit of its own. */
const attemptsOf = ({ isLastAttempt }: WorkerJob, maxAttempts: number): number | undefined =>
  isLastAttempt === undefined ? maxAttempts : undefined;

async function runHandler(
  route: Route,
  context: DeliveryContext,
  signal: AbortSignal | undefined,
): Promise<void> {
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

/** With the profile `'standard-webhooks'`, only the receiver can tell the key of some events. */
const withQueuedKey = (route: Route, { key }: QueuedDelivery): Route =>
  route.key === undefined && key !== undefined ? { ...route, key } : route;

function failureOf(error: unknown, route: Route | undefined): WebhookError {
  if (error instanceof WebhookError && !route) return error;
  return storable(handlerFailed(error, route?.sensitiveData));
}

/** Engines keep the message, and databases refuse half of a surrogate pair. */
function storable(error: WebhookError): WebhookError {
  error.message = error.message.replace(/\p{Surrogate}/gu, '\ufffd');
  return error;
}

function deliveryOf(queued: QueuedDelivery, log: Logger): Delivery {
  const { webhookId, timestamp, receivedAt, body } = queued;
  try {
    return { webhookId, timestamp, receivedAt, queued: true, rawBody: fromBase64(body), log };
  } catch {
    throw new WebhookError('invalid-payload', 'The queued delivery has no base64 body.');
  }
}
