import { isPending, type Awaitable } from '../awaitable.ts';
import type { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/delivery.ts';
import { toDeadLetter, type Job } from '../dispatch/job.ts';
import type { OutcomeCode } from '../outcome/outcomes.ts';
import { describeError } from '../privacy/scrub.ts';
import { safeLogger } from '../reporting/safe-logger.ts';
import type { Lease } from '../store/lease.ts';
import type { Settings } from './options.ts';

/** One run of an event, with the lease that it has for it. */
export interface Attempt {
  readonly job: Job;
  readonly delivery: Delivery;
  readonly context: DeliveryContext;
  readonly lease: Lease;
  readonly settings: Settings;
}

/**
 * Runs the job, and waits only where it does. A failure is handed to the dead-letter sink when its
 * time has come, or else gives the lease back.
 * @throws WebhookError what the failure is to be answered with, for the retry
 */
export function runOnce(attempt: Attempt): Awaitable<OutcomeCode> {
  const { job, context, lease } = attempt;
  const failed = (error: unknown) => giveUp(attempt, error);
  try {
    if (diesInIt(attempt))
      throw new Error(`none of ${String(context.attempt - 1)} attempts came to an end`);
    const running = job.run(context);
    if (!isPending(running)) return running;
    lease.keep();
    return running.then(undefined, failed);
  } catch (error) {
    return failed(error);
  }
}

/**
 * So many attempts and no end: the process dies in them. Don't die once more. (Some margin, as
 * deploys and stores that are slow lose attempts as well.)
 */
const diesInIt = ({ job, context, settings }: Attempt): boolean =>
  job.canDeadLetter &&
  settings.handlers.deadLetter !== undefined &&
  context.attempt > settings.maxAttempts * 3;

async function giveUp(attempt: Attempt, error: unknown): Promise<OutcomeCode> {
  const { job, lease } = attempt;
  lease.keep();
  if (await park(attempt, error)) return 'dead-lettered';
  await lease.giveBack();
  throw job.failure(error);
}

/** Hands a delivery that failed too often to the sink. `false`: it is to be retried. */
async function park(attempt: Attempt, error: unknown): Promise<boolean> {
  const { job, delivery, context, settings } = attempt;
  const { deadLetter } = settings.handlers;
  if (!job.canDeadLetter || !deadLetter || context.attempt < settings.maxAttempts) return false;
  try {
    await deadLetter(toDeadLetter('handler-failed', delivery, context.attempt, error, job.route));
    return true;
  } catch (sinkError) {
    safeLogger(delivery.log).error(
      `call-webhooks: the deadLetter sink failed: ${describeError(sinkError, job.route.personal)}`,
    );
    return false;
  }
}
