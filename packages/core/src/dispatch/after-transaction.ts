import { docsUrl } from '../outcome/webhook-error.ts';
import { describeError } from '../redact/error-text.ts';
import { safeLogger } from '../reporting/logger.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import type { Delivery } from './context.ts';
import type { Route } from './routes.ts';

/** The failure of a handler that succeeded, but whose transaction was rolled back. */
export const rolledBack = () =>
  new Error('The handler succeeded, but the transaction of completeIn was rolled back.');

/** The event is done, so nobody else would learn of this error. */
export function logFailureAfterCommit(
  error: unknown,
  route: Route,
  { webhookId, log }: Delivery,
  attempt: number,
): void {
  safeLogger(log).warn(
    {
      ...deliveryFields({ webhookId, ...route, attempt }),
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: The handler failed after its transaction had been committed, so the event is done: ${describeError(error, route.sensitiveData)}`,
  );
}
