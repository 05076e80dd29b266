import type { Delivery, DeliveryContext } from '../dispatch/context.ts';
import type { Job } from '../dispatch/job.ts';
import { docsUrl } from '../outcome/docs-url.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../redact/error-text.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import { safeLogger } from '../reporting/logger.ts';
import type { Lease } from '../store/lease.ts';

/**
 * Whether a transaction with `completeIn` was committed. Only the store knows: a handler may ignore
 * that its transaction was rolled back, or fail after the commit, or lose the answer to it.
 * @throws WebhookError `in-progress` if the lease was lost, `store-unavailable` if the store fails
 */
export async function wasCommitted(
  { transactions }: DeliveryContext,
  lease: Lease,
): Promise<boolean> {
  if (transactions?.mayBeDone) {
    const end = await lease.transactionEnd();
    if (end !== 'lost') return end === 'committed';
  } else if (!transactions?.leaseLost) return false;
  throw leaseLost();
}

export const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease was lost while the handler ran: another delivery of the event may be running.',
  );

/** The failure of a handler that succeeded, but whose transaction was rolled back. */
export const rolledBack = () =>
  new Error('The handler succeeded, but the transaction of completeIn was rolled back.');

/** The event is done, so nobody else would learn of this error. */
export function logFailureAfterCommit(
  error: unknown,
  { route }: Job,
  { webhookId, log }: Delivery,
  attempt: number,
): void {
  safeLogger(log).warn(
    {
      ...deliveryFields({ webhookId, ...route, attempt }),
      docs: docsUrl('outcomes.md#handled'),
    },
    `call-webhooks: The handler failed after its transaction had been committed, so the event is done: ${describeError(error, route.sensitiveData)}`,
  );
}
