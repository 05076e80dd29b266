import { docsUrl } from '../outcome/webhook-error.ts';
import { OUTCOMES } from '../outcome/outcomes.ts';
import type { DeliverySource } from '../outcome/response.ts';
import type { Outcome } from '../outcome/response.ts';
import { redactId, shownTenant } from '../redact/ids.ts';
import type { Redact } from '../redact/redactor.ts';
import { loggedFailure } from './logged-error.ts';

/** What a logger is called with. */
export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** What a line depends on besides its outcome. */
export interface LineOptions {
  readonly redact?: Redact | undefined;
  /** After how many attempts an event goes to `deadLetter`. */
  readonly maxAttempts?: number | undefined;
}

/**
 * The log line of an outcome.
 * @param suppressed how many lines like it were left out since the last one
 */
export function outcomeLine(
  outcome: Outcome,
  suppressed: number,
  { redact, maxAttempts }: LineOptions = {},
): LogLine {
  const { outcome: code, status, error, late, durationMs } = outcome;
  const { message, err } = error ? loggedFailure(error, redact) : { message: OUTCOMES[code].when };
  const retriedBy = retrierOf(outcome);
  return {
    // A dead letter waits for somebody, although the service is done with it.
    level: status >= 500 || code === 'dead-lettered' ? 'error' : 'warn',
    message: `call-webhooks: ${String(status)} ${code}: ${message}`,
    fields: {
      outcome: code,
      status,
      ...deliveryFields(outcome),
      // Otherwise there is no limit, or it is not ours.
      ...(outcome.attemptsLeft !== undefined && { maxAttempts }),
      ...(retriedBy && { retriedBy }),
      ...(late && { late }),
      durationMs: Math.round(durationMs),
      ...(suppressed > 0 && { suppressed }),
      ...(err && { err }),
      docs: docsUrl(`outcomes.md#${code}`),
    },
  };
}

const RETRIERS: Partial<Record<DeliverySource, 'service' | 'reconciler'>> = {
  webhook: 'service',
  // It finds the event again in its next run.
  reconcile: 'reconciler',
};

/** The service retries only its own deliveries, and anybody can send what is not authentic. */
function retrierOf({ outcome, source, webhookId }: Outcome) {
  if (webhookId === undefined) return undefined;
  return (OUTCOMES[outcome].service === 'retried' && RETRIERS[source]) || 'nobody';
}

/** What identifies a delivery in log lines. */
export interface Identified {
  readonly tenant?: string | undefined;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  readonly key?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly source?: DeliverySource | undefined;
}

/** The fields that tell which delivery a line is about. */
export function deliveryFields(delivery: Identified) {
  const { tenant, eventName, callId, key, webhookId, attempt, source } = delivery;
  return {
    ...(tenant !== undefined && { tenant: shownTenant(tenant, webhookId) }),
    ...(eventName !== undefined && { eventName: redactId(eventName) }),
    ...(callId !== undefined && { callId: redactId(callId) }),
    ...(key !== undefined && { key: redactId(key) }),
    ...(webhookId !== undefined && { webhookId: redactId(webhookId) }),
    ...(attempt !== undefined && { attempt }),
    ...(source !== undefined && source !== 'webhook' && { source }),
  };
}
