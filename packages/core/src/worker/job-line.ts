import { docsUrl } from '../outcome/webhook-error.ts';
import type { Outcome } from '../outcome/response.ts';
import type { Redact } from '../redact/redactor.ts';
import { loggedFailure } from '../reporting/logged-error.ts';
import { deliveryFields, type LogLine } from '../reporting/outcome-line.ts';

interface FailedJob {
  readonly outcome: Outcome;
  /** Whether nobody runs it again. */
  readonly isDead: boolean;
  /** `undefined` if only the engine knows. */
  readonly maxAttempts: number | undefined;
}

/** The log line of a run that failed. */
export function jobLine({ outcome, isDead, maxAttempts }: FailedJob, redact?: Redact): LogLine {
  const { outcome: code, attempt = 1, error, durationMs } = outcome;
  const { message = '', ...err } = error ? loggedFailure(error, redact) : {};
  const of = maxAttempts === undefined ? '' : ` of ${String(maxAttempts)}`;
  const attempts = attempt === 1 ? '1 attempt' : `${String(attempt)} attempts`;
  return {
    level: isDead ? 'error' : 'warn',
    message: isDead
      ? `call-webhooks: gave up after ${attempts}: ${message}`
      : `call-webhooks: attempt ${String(attempt)}${of} failed: ${message}`,
    fields: {
      outcome: code,
      ...deliveryFields(outcome),
      ...(maxAttempts !== undefined && { maxAttempts }),
      retriedBy: isDead ? 'nobody' : 'queue',
      durationMs: Math.round(durationMs),
      ...err,
      docs: docsUrl(`outcomes.md#${code}`),
    },
  };
}
