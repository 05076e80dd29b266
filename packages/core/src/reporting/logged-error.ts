import { originsOf, type DeliveryContent } from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { errorDetails } from '../redact/error-details.ts';
import { describeError, errorCopy, errorText } from '../redact/error-text.ts';
import { createRedactor, type Redact } from '../redact/redactor.ts';

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
  const details = errorDetails(error, createRedactor(redact, content));
  return { text: errorText(details), err: errorCopy(details) };
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
