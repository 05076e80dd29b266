import { docsUrl, type WebhookError } from '../outcome/webhook-error.ts';
import { deliveryFields, type LogLine } from '../reporting/outcome-line.ts';

/** What is known about a run of a job. */
export interface JobInfo {
  readonly webhookId: string;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  readonly key?: string | undefined;
  readonly attempt: number;
  /** `undefined` if only the engine knows. */
  readonly maxAttempts: number | undefined;
}

/** The log line of a run that failed: the queue retries it, or it is dead. */
export function jobLine(error: WebhookError, isDead: boolean, info: JobInfo): LogLine {
  const { attempt, maxAttempts } = info;
  const outcome = isDead ? 'dead-lettered' : error.code;
  const of = maxAttempts === undefined ? '' : ` of ${String(maxAttempts)}`;
  return {
    level: isDead ? 'error' : 'warn',
    message: isDead
      ? `call-webhooks: gave up after ${attempt === 1 ? '1 attempt' : `${String(attempt)} attempts`}: ${error.message}`
      : `call-webhooks: attempt ${String(attempt)}${of} failed: ${error.message}`,
    fields: {
      outcome,
      ...deliveryFields(info),
      ...(maxAttempts !== undefined && { maxAttempts }),
      retriedBy: isDead ? 'nobody' : 'queue',
      queued: true,
      err: error,
      docs: docsUrl(`outcomes.md#${outcome}`),
    },
  };
}
