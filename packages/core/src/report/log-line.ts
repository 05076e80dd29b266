import { type DeliveryContent, docsUrl, originsOf, WebhookError } from '../errors.ts';
import { type DeliverySource, type Outcome, OUTCOMES } from '../outcomes.ts';
import { describeError, errorText, redactedCopy } from './error-text.ts';
import { createRedactor, type Redact, redactId, shownTenant } from './redact.ts';

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

interface FailedJob {
  readonly outcome: Outcome;
  /** Whether nobody runs it again. */
  readonly isDead: boolean;
  /** `undefined` if only the engine knows. */
  readonly maxRuns: number | undefined;
}

/** The log line of a run that failed. */
export function jobLine({ outcome, isDead, maxRuns }: FailedJob, redact?: Redact): LogLine {
  const { outcome: code, attempt = 1, error, durationMs } = outcome;
  const { message = '', ...err } = error ? loggedFailure(error, redact) : {};
  const of = maxRuns === undefined ? '' : ` of ${String(maxRuns)}`;
  const attempts = attempt === 1 ? '1 attempt' : `${String(attempt)} attempts`;
  return {
    level: isDead ? 'error' : 'warn',
    message: isDead
      ? `call-webhooks: gave up after ${attempts}: ${message}`
      : `call-webhooks: attempt ${String(attempt)}${of} failed: ${message}`,
    fields: {
      outcome: code,
      ...deliveryFields(outcome),
      ...(maxRuns !== undefined && { maxRuns }),
      retriedBy: isDead ? 'nobody' : 'queue',
      durationMs: Math.round(durationMs),
      ...err,
      docs: docsUrl(`outcomes.md#${code}`),
    },
  };
}

/** An error as log lines have it. */
export interface LoggedError {
  /** The error and its causes on one line, for the message. */
  readonly text: string;
  /** A copy for the field `err`. */
  readonly err: Error;
}

/** What was thrown, redacted, for a log line. Never throws. */
export function loggedError(
  error: unknown,
  redact?: Redact,
  content?: DeliveryContent,
): LoggedError {
  const err = redactedCopy(error, createRedactor(redact, content));
  return { text: errorText(err), err };
}

/**
 * The message of a failure, and a copy of the first error that was thrown, if one was. A failure's own
 * message is redacted in the standard way.
 */
export function loggedFailure(
  failure: WebhookError,
  redact: Redact = 'standard',
): { message: string; err?: Error } {
  let { message } = failure;
  let first: Error | undefined;
  for (const { source, error, sensitiveData, isWithheld } of originsOf(failure)) {
    // The message has all of an error of ours, but not the causes of one that a handler throws.
    const isOurs = error instanceof WebhookError && source !== 'handler';
    if (isWithheld === true || isOurs) continue;
    const { text, err } = loggedError(error, redact, sensitiveData);
    if (redact !== 'standard')
      message = message.replace(describeError(error, sensitiveData), () => text);
    first ??= err;
  }
  return first ? { message, err: first } : { message };
}
