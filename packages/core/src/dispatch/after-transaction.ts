import { docsUrl } from '../outcome/webhook-error.ts';
import type { Redact } from '../redact/redactor.ts';
import { loggedError } from '../reporting/logged-error.ts';
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
  redact: Redact | undefined,
): void {
  const { text, err } = loggedError(error, redact, route.sensitiveData);
  safeLogger(log).warn(
    {
      ...deliveryFields({ webhookId, ...route, attempt }),
      retriedBy: 'nobody',
      err,
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: The handler failed after its transaction had been committed, so the event is done: ${text}`,
  );
}
