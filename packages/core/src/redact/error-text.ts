import type { DeliveryContent } from '../outcome/origin.ts';
import { WebhookError, type WebhookErrorCode } from '../outcome/webhook-error.ts';
import { errorDetails, type ErrorDetails } from './error-details.ts';
import { createRedactor, type Redact } from './redactor.ts';

const MAX_LENGTH = 8_000;

/**
 * An error with its causes on one line, redacted. Never throws, whatever was thrown.
 * @param content of the delivery; what is personal in it is removed
 * @example
 * describeError(error)
 * // 'TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.5:443'
 */
export const describeError = (error: unknown, content?: DeliveryContent, redact?: Redact): string =>
  errorText(errorDetails(error, createRedactor(redact, content)));

/** `name: message [code]`, its parts and its causes. */
export function errorText(details: ErrorDetails): string {
  const { name, message, code, cause, errors } = details;
  const whole = [name, message].filter((text) => text !== '').join(': ');
  const isNewCode = code !== undefined && !whole.includes(String(code));
  const parts = [
    whole + (isNewCode ? ` [${String(code)}]` : ''),
    ...(errors.length > 0 ? [`errors: ${errors.map(errorText).join(', ')}`] : []),
    ...(cause ? causeText(cause, details) : []),
  ];
  return parts.join('; ').slice(0, MAX_LENGTH);
}

/** Libraries wrap errors under the same message. */
function causeText(cause: ErrorDetails, { message }: ErrorDetails): string[] {
  if (cause.message !== message) return [`cause: ${errorText(cause)}`];
  return cause.cause ? causeText(cause.cause, cause) : [];
}

/**
 * A redacted copy of an error, for the field `err` of log lines: pino, bunyan, `console` and
 * `JSON.stringify` print its name, message, code, stack and causes.
 */
export function errorCopy({ name, message, code, frames, cause, errors }: ErrorDetails): Error {
  // A class of its own, since pino takes the type from the name of the constructor.
  const { [name]: Copy = Error } = {
    [name]: class extends Error {
      toJSON() {
        const { stack } = this;
        return { type: name, message, code, stack, cause: this.cause, errors: parts };
      }
    },
  };
  const parts = errors.length > 0 ? errors.map(errorCopy) : undefined;
  const copy = new Copy(message, cause && { cause: errorCopy(cause) });
  const stack = `${[name, message].filter((text) => text !== '').join(': ')}${frames && `\n${frames}`}`;
  Object.defineProperties(copy, {
    name: { value: name, enumerable: false },
    stack: { value: stack, enumerable: false },
    ...(parts && { errors: { value: parts, enumerable: false } }),
    ...(code !== undefined && { code: { value: code, enumerable: true } }),
  });
  return copy;
}

/** A foreign error as a `WebhookError`: its stack frames, and its message redacted. */
export function redactedError(
  code: WebhookErrorCode,
  prefix: string,
  error: unknown,
  content?: DeliveryContent,
  eventName?: string,
): WebhookError {
  const details = errorDetails(error, createRedactor('standard', content));
  const redacted = new WebhookError(code, prefix + errorText(details), { eventName });
  redacted.stack = `${redacted.name}: ${redacted.message}\n${details.frames}`;
  return redacted;
}
