import type { Delivery } from '../dispatch/delivery.ts';
import type { Job } from '../dispatch/job.ts';
import { toDeadLetter } from '../dispatch/to-dead-letter.ts';
import { docsUrl } from '../outcome/webhook-error.ts';
import type { ErrorOrigin } from '../outcome/origin.ts';
import { loggedError } from '../reporting/logged-error.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import { safeLogger } from '../reporting/logger.ts';
import type { Result } from '../reporting/reporter.ts';
import type { Settings } from './options.ts';

/**
 * Whether so many attempts never ended that the event must be crashing its process. The margin is
 * for attempts that are lost to deploys and slow stores.
 */
export function isCrashLooping(
  job: Job,
  { source }: Delivery,
  attempt: number,
  { handlers, maxAttempts }: Settings,
): boolean {
  // Somebody decided to run a redriven one once more.
  if (job.kind !== 'handler' || !handlers.deadLetter || source === 'redrive') return false;
  return attempt > maxAttempts * 3;
}

/** How the store marks an event that the dead letters have. */
export const markOf = ({ outcome }: Result) => (outcome === 'dead-lettered' ? outcome : undefined);

/** Nobody retries what is redriven, so its first failure is final. */
export const attemptsLeft = (
  { source }: Delivery,
  attempt: number,
  { maxAttempts }: Settings,
): number => (source === 'redrive' ? 0 : Math.max(0, maxAttempts - attempt));

/**
 * Hands a delivery to `deadLetter` after its last attempt.
 * @returns `undefined` if it is there; otherwise the delivery is to be retried, and a list of what
 *   `deadLetter` threw, if it was called
 */
export async function sendToDeadLetter(
  error: unknown,
  job: Job,
  delivery: Delivery,
  attempt: number,
  settings: Settings,
): Promise<ErrorOrigin[] | undefined> {
  const { deadLetter } = settings.handlers;
  if (job.kind !== 'handler' || !deadLetter) return [];
  if (attemptsLeft(delivery, attempt, settings) > 0) return [];
  try {
    const failure = { attempt, error, at: settings.now(), route: job.route };
    await deadLetter(toDeadLetter('handler-failed', delivery, failure));
    return undefined;
  } catch (sinkError) {
    const { sensitiveData } = job.route;
    const { tenant, webhookId } = delivery;
    const { text, err } = loggedError(sinkError, settings.handlers.redact, sensitiveData);
    safeLogger(delivery.log).error(
      {
        ...deliveryFields({ tenant, webhookId, ...job.route, attempt }),
        err,
        docs: docsUrl('outcomes.md#dead-lettered'),
      },
      `call-webhooks: The deadLetter sink failed: ${text}`,
    );
    return [{ source: 'dead-letter', error: sinkError, sensitiveData }];
  }
}
