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

/** Something went wrong with an event that is done. */
export interface OfDone {
  readonly error: unknown;
  /** What the error means for the event. */
  readonly kind: 'failed-after-commit' | 'late-transaction';
  readonly route: Route;
  readonly delivery: Delivery;
  readonly attempt: number;
  /** Whether the service got its response before. */
  readonly late: boolean;
}

const KINDS = {
  'failed-after-commit': {
    level: 'warn',
    message: 'The handler failed after its transaction had been committed, so the event is done',
  },
  // Nobody else may hear of it: the handler does not wait for this error.
  'late-transaction': {
    level: 'error',
    message:
      'The event is done, but a transaction of its handler called completeIn too late and was refused, so what it wrote is lost',
  },
} as const;

/** The event is done, so its outcome does not report this error. */
export function reportOfDone(
  { error, kind, route, delivery, attempt, late }: OfDone,
  { redact, onError }: { redact?: Redact | undefined; onError?: ErrorHook | undefined },
): void {
  const { tenant, webhookId, log, source } = delivery;
  const { level, message } = KINDS[kind];
  const { text, err } = loggedError(error, redact, route.sensitiveData);
  safeLogger(log)[level](
    {
      ...deliveryFields({ tenant, webhookId, ...route, attempt, source }),
      retriedBy: 'nobody',
      err,
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: ${message}: ${text}`,
  );
  if (!onError) return;
  const queued = source === 'queue';
  const context = { ...route, tenant, webhookId, attempt, attemptsLeft: 0, late, queued };
  callErrorHook(onError, [{ source: 'handler', error }], context);
}
