import { docsUrl } from '../outcome/webhook-error.ts';
import { OUTCOMES } from '../outcome/outcomes.ts';
import type { Outcome } from '../outcome/response.ts';

/** What a logger is called with. */
export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/**
 * The log line of an outcome.
 * @param suppressed how many lines like it were left out since the last one
 */
export function outcomeLine(outcome: Outcome, suppressed: number): LogLine {
  const { outcome: code, status, source, error, late, webhookId, durationMs } = outcome;
  // Anybody can send what is not authentic, and the service retries only its own deliveries.
  const isFromService = source === 'webhook' && webhookId !== undefined;
  const isRetried = isFromService && OUTCOMES[code].service === 'retried';
  return {
    level: status >= 500 ? 'error' : 'warn',
    message: `call-webhooks: ${String(status)} ${code}: ${error?.message ?? OUTCOMES[code].when}`,
    fields: {
      outcome: code,
      status,
      ...(source !== 'webhook' && { source }),
      ...deliveryFields(outcome),
      ...(isRetried && { retriedBy: 'service' }),
      ...(late && { late }),
      durationMs: Math.round(durationMs),
      ...(suppressed > 0 && { suppressed }),
      ...(code === 'handler-failed' && error && { err: error }),
      docs: docsUrl(`outcomes.md#${code}`),
    },
  };
}

interface Identified {
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  readonly key?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly attempt?: number | undefined;
}

/** The fields that tell which delivery a line is about. */
export function deliveryFields({ eventName, callId, key, webhookId, attempt }: Identified) {
  return {
    ...(eventName !== undefined && { eventName: printable(eventName) }),
    ...(callId !== undefined && { callId: printable(callId) }),
    ...(key !== undefined && { key: printable(key) }),
    ...(webhookId !== undefined && { webhookId }),
    ...(attempt !== undefined && { attempt }),
  };
}

/** These come from the body: no line breaks, no terminal codes, and a limited length. */
const printable = (text: string) =>
  text.slice(0, 200).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
