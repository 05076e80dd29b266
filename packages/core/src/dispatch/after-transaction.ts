import { docsUrl } from '../outcome/webhook-error.ts';
import type { Redact } from '../redact/redactor.ts';
import { callErrorHook, type ErrorHook } from '../reporting/hooks.ts';
import { loggedError } from '../reporting/logged-error.ts';
import { safeLogger } from '../reporting/logger.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import type { Delivery } from './delivery.ts';
import type { Route } from './routes.ts';

/** The failure of a handler that succeeded, but whose transaction was rolled back. */
export const rolledBack = () =>
  new Error('The handler succeeded, but the transaction of completeIn was rolled back.');

interface FailureAfterCommit {
  readonly error: unknown;
  readonly route: Route;
  readonly delivery: Delivery;
  readonly attempt: number;
  /** Whether the service got its response before. */
  readonly late: boolean;
}

/** The event is done, so its outcome does not report this error. */
export function reportFailureAfterCommit(
  { error, route, delivery: { tenant, webhookId, log, source }, attempt, late }: FailureAfterCommit,
  { redact, onError }: { redact?: Redact | undefined; onError?: ErrorHook | undefined },
): void {
  const { text, err } = loggedError(error, redact, route.sensitiveData);
  safeLogger(log).warn(
    {
      ...deliveryFields({ tenant, webhookId, ...route, attempt, source }),
      retriedBy: 'nobody',
      err,
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: The handler failed after its transaction had been committed, so the event is done: ${text}`,
  );
  if (!onError) return;
  const queued = source === 'queue';
  const context = { ...route, tenant, webhookId, attempt, attemptsLeft: 0, late, queued };
  callErrorHook(onError, [{ source: 'handler', error }], context);
}
