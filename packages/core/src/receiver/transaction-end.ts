import type { Transactions } from '../dispatch/transactions.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Lease } from '../store/lease.ts';

/**
 * Whether a transaction with `completeIn` was committed. Only the store knows: a handler may ignore
 * that its transaction was rolled back, or fail after the commit, or lose the answer to it.
 * @throws WebhookError `in-progress` if the lease was lost, `store-unavailable` if the store fails
 */
export async function wasCommitted(transactions: Transactions, lease: Lease): Promise<boolean> {
  if (transactions.mayBeDone) {
    const end = await lease.transactionEnd();
    if (end !== 'lost') return end === 'committed';
  } else if (!transactions.leaseLost) return false;
  throw leaseLost();
}

export const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease was lost while the handler ran: another delivery of the event may be running.',
  );
