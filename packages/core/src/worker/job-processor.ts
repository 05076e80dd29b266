import * as z from 'zod';
import { checkAgainst } from '../check-options.ts';
import type { ExtraEvents, HandlerOptions } from '../dispatch/handlers.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/schema.ts';
import type { WebhookError } from '../outcome/webhook-error.ts';
import type { QueuedDelivery } from '../queue.ts';
import { checkEventNames, handlerShape } from '../receiver/settings.ts';
import type { Logger } from '../reporting/logger.ts';
import { safeLogger } from '../reporting/logger.ts';
import { createAttempt } from './attempt-job.ts';
import { jobLine } from './job-line.ts';

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
  const attemptJob = createAttempt(settings);

  return async (queued, job) => {
    const { result, info } = await attemptJob(queued, job);
    if (result.status === 'done') return result;
    const { level, fields, message } = jobLine(result.error, result.status === 'dead', info);
    safeLogger(settings.logger)[level](fields, message);
    return result;
  };
}
