import * as v from 'valibot';
import { checkAgainst } from '../check-options.ts';
import type { HandlerContext } from '../dispatch/context.ts';
import type { ExtraEvents, HandlerOptions } from '../dispatch/handlers.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/schema.ts';
import type { QueuedDelivery } from '../queue.ts';
import { checkEventNames } from '../receiver/event-names.ts';
import { handlerShape } from '../receiver/settings.ts';
import { withWarnings } from '../reporting/hook-warnings.ts';
import type { Logger } from '../reporting/logger.ts';
import { safeLogger } from '../reporting/logger.ts';
import { createAttempt } from './attempt-job.ts';
import { jobLine } from './job-line.ts';
import type { JobResult, WorkerJob } from './worker-job.ts';

/** The handlers of a worker, as a receiver has them. */
export interface WorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> extends HandlerOptions<Extra, Custom, Context> {
  fieldNames?: FieldNames | undefined;
  /** How often a job is run before it is handed to `deadLetter`; 3 by default. */
  maxAttempts?: number | undefined;
  /** Gets a line for each failed attempt; `console` by default. */
  logger?: Logger | undefined;
}

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
  Context = HandlerContext,
>(options: WorkerOptions<Extra, Custom, Context>): JobProcessor {
  const checked = checkAgainst(v.strictObject(handlerShape()), options);
  const settings = { ...checked, ...withWarnings(checked, checked.logger) };
  checkEventNames(settings);
  const attemptJob = createAttempt(settings);

  return async (queued, job) => {
    const { result, outcome, maxAttempts } = await attemptJob(queued, job);
    if (result.status === 'done') return result;
    const failed = { outcome, isDead: result.status === 'dead', maxAttempts };
    const { level, fields, message } = jobLine(failed, settings.redact);
    safeLogger(settings.logger)[level](fields, message);
    return result;
  };
}

/** Runs one queued delivery. It rejects with a `WebhookError` when the run failed. */
export type WorkerHandler = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<void>;

/**
 * As `createJobProcessor`, for engines whose jobs fail by rejecting.
 *
 * It rejects with `handler-failed`, or with `invalid-payload` if no retry can help: the engine should
 * then give the job up. `deadLetter` is called before: for `handler-failed` in the last attempt, for
 * `invalid-payload` at once. While `deadLetter` itself fails, the error is `handler-failed`.
 * @throws WebhookError `invalid-options`
 */
export function createWorkerHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: WorkerOptions<Extra, Custom>): WorkerHandler {
  const process = createJobProcessor(options);
  return async (delivery, job) => {
    const result = await process(delivery, job);
    if (result.status !== 'done') throw result.error;
  };
}
