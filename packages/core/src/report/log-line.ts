import { type DeliveryContent, docsUrl, originsOf, WebhookError } from '../errors.ts';
import { defined, type DeliverySource, type Outcome, OUTCOMES } from '../outcomes.ts';
import { describeError, errorText, redactedCopy } from './error-text.ts';
import { createRedactor, type Ids, type Redact, withRedactedIds } from './redact.ts';

export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

export interface LineOptions {
  readonly redact?: Redact | undefined;
  /** After how many attempts, or runs of a job, an event goes to `deadLetter`. */
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
  const { outcome: code, status, error, late, durationMs, queued, attemptsLeft } = outcome;
  const { message, err } = error ? loggedFailure(error, redact) : { message: OUTCOMES[code].when };
  const what = queued ? runOf(outcome, maxAttempts) : `${String(status)} ${code}`;
  // Without attempts left there is no limit, or it is not ours.
  const limit = attemptsLeft === undefined ? undefined : maxAttempts;
  const fields = {
    outcome: code,
    status: queued ? undefined : status,
    ...deliveryFields(outcome),
    [queued ? 'maxRuns' : 'maxAttempts']: limit,
    retriedBy: retrierOf(outcome),
    late,
    durationMs: Math.round(durationMs),
    suppressed: suppressed > 0 ? suppressed : undefined,
    err,
    docs: docsUrl(`outcomes.md#${code}`),
  };
  // A dead letter waits for somebody, although the service is done with it.
  const isError = code === 'dead-lettered' || (status >= 500 && !queued);
  return {
    level: isError ? 'error' : 'warn',
    message: `call-webhooks: ${what}: ${message}`,
    fields: defined(fields),
  };
}

function runOf({ outcome, attempt = 1 }: Outcome, maxRuns: number | undefined): string {
  if (outcome === 'dead-lettered')
    return `gave up after ${attempt === 1 ? '1 attempt' : `${String(attempt)} attempts`}`;
  const of = maxRuns === undefined ? '' : ` of ${String(maxRuns)}`;
  return `attempt ${String(attempt)}${of} failed`;
}

const RETRIERS: Partial<Record<DeliverySource, 'service' | 'queue' | 'reconciler'>> = {
  webhook: 'service',
  queue: 'queue',
  // It finds the event again in its next run.
  reconcile: 'reconciler',
};

/** The service retries only its own deliveries, and anybody can send what is not authentic. */
function retrierOf({ outcome, source, webhookId }: Outcome) {
  if (webhookId === undefined) return undefined;
  return (OUTCOMES[outcome].service === 'retried' && RETRIERS[source]) || 'nobody';
}

/** What identifies a delivery in log lines. */
export type Identified = {
  readonly [Name in keyof Ids | 'attempt' | 'source']?: Outcome[Name] | undefined;
};

/** The fields that tell which delivery a line is about. */
export function deliveryFields(delivery: Identified) {
  const { tenant, eventName, callId, key, webhookId, attempt, source } = delivery;
  return defined({
    ...withRedactedIds({ tenant, eventName, callId, key, webhookId }),
    attempt,
    source: source === 'webhook' ? undefined : source,
  });
}

/** What was thrown, redacted: with its causes on one line, and a copy for the field `err`. Never throws. */
export function loggedError(
  error: unknown,
  redact?: Redact,
  content?: DeliveryContent,
): { readonly text: string; readonly err: Error } {
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
