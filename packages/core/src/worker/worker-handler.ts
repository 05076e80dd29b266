import type { ExtraEvents } from '../dispatch/handlers.ts';
import type { StandardSchema } from '../events/schema.ts';
import type { QueuedDelivery } from '../queue.ts';
import type { WorkerJob } from './worker-job.ts';
import { createJobProcessor, type WorkerOptions } from './job-processor.ts';

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
