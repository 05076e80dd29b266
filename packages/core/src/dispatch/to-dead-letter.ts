import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../redact/error-text.ts';
import type { DeadLetter } from '../store/dead-letter.ts';
import type { Delivery } from './delivery.ts';
import type { Route } from './routes.ts';

/** What a dead letter is made of besides its delivery. */
interface LastFailure {
  attempt: number;
  error: unknown;
  /** Milliseconds since the epoch. */
  at: number;
  /** Absent if the payload has no handler. */
  route?: Route | undefined;
}

/** A delivery that is given up, for the dead-letter sink. */
export function toDeadLetter(
  reason: DeadLetter['reason'],
  delivery: Delivery,
  { attempt, error, at, route }: LastFailure,
): DeadLetter {
  const invalidEvent = error instanceof WebhookError ? error.eventName : undefined;
  const { eventName = invalidEvent, callId, key } = route ?? {};
  const isOurs = error instanceof WebhookError && !route;
  return {
    ...(delivery.letterId !== undefined && { id: delivery.letterId }),
    reason,
    ...(delivery.tenant !== undefined && { tenant: delivery.tenant }),
    rawBody: delivery.rawBody,
    webhookId: delivery.webhookId,
    timestamp: new Date(delivery.timestamp * 1000),
    ...(eventName !== undefined && { eventName }),
    ...(callId !== undefined && { callId }),
    ...(key !== undefined && { key }),
    attempt,
    failedAt: new Date(at),
    source: delivery.source,
    error,
    errorText: isOurs ? error.message : describeError(error, route?.sensitiveData),
  };
}
