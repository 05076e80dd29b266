import type { DeliveryContent } from '../errors.ts';
import { WebhookError, type WebhookErrorCode } from '../errors.ts';
import { createRedactor, type Redact, type Redactor } from './redact.ts';

/** What is told of a thrown value: redacted, without cycles, and of a bounded size. */
export interface ErrorDetails {
  /** Empty for a thrown text. */
  readonly name: string;
  readonly message: string;
  readonly code: string | number | undefined;
  /** The frames of its stack, without its message. */
  readonly frames: string;
  readonly cause: ErrorDetails | undefined;
  /** The parts of an `AggregateError`. */
  readonly errors: readonly ErrorDetails[];
}

const MAX_DEPTH = 5;
/** Of all causes and parts together. */
const MAX_ERRORS = 20;
/** Messages and stacks of all of them together: the parts of an error may each quote a whole body. */
const MAX_CHARACTERS = 100_000;
const MAX_NAME_LENGTH = 100;
const MAX_FRAMES = 10;
const MAX_STACK_LENGTH = 16_000;
/** In so many characters, a stack has the name of its error and the beginning of the message. */
const MAX_START = 1_000;

/** Reads a thrown value. Never throws, whatever was thrown. */
export function errorDetails(thrown: unknown, redact: Redactor): ErrorDetails {
  const seen = new Set<unknown>();
  let left = MAX_CHARACTERS;

  function read(value: unknown, depth: number): ErrorDetails {
    seen.add(value);
    try {
      return isErrorLike(value) ? readError(value, depth) : { ...NOTHING, message: tell(value) };
    } catch {
      return { ...NOTHING, message: 'an error that cannot be read' };
    }
  }

  function readError(error: ErrorLike, depth: number): ErrorDetails {
    const { name, message, code, cause, errors } = error;
    const isRead = left > 0;
    left -= 2 * message.length; // V8 makes another text of it for the stack
    return {
      name: redact(nameOf(name, error).slice(0, MAX_NAME_LENGTH)),
      message: isRead ? redact(message) : `a message of ${String(message.length)} characters`,
      code: typeof code === 'string' ? redact(code.slice(0, MAX_NAME_LENGTH)) : numberOrNone(code),
      frames: isRead ? stackFrames(error, redact) : '',
      cause: cause === undefined || cause === null ? undefined : readNext(cause, depth),
      errors: Array.isArray(errors)
        ? errors.filter(isErrorLike).flatMap((part) => readNext(part, depth) ?? [])
        : [],
    };
  }

  function readNext(value: unknown, depth: number): ErrorDetails | undefined {
    if (depth === MAX_DEPTH || seen.size >= MAX_ERRORS || seen.has(value)) return undefined;
    return read(value, depth + 1);
  }

  /** Fields may be names of people, and values are not needed to find out what was thrown. */
  function tell(value: unknown): string {
    if (typeof value === 'string') return redact(value);
    if (value === null) return 'a thrown null';
    if (typeof value !== 'object') return `a thrown ${typeof value}`;
    const names = Object.keys(value).slice(0, 5);
    return `a thrown object${names.length > 0 ? redact(` with ${names.join(', ')}`) : ''}`;
  }

  return read(thrown, 0);
}

const NOTHING = { name: '', code: undefined, frames: '', cause: undefined, errors: [] };

interface ErrorLike {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Also errors of other realms, and objects that libraries throw as errors. */
const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { message?: unknown }).message === 'string';

const nameOf = (name: unknown, error: object): string =>
  typeof name === 'string' && name !== ''
    ? name
    : ((error.constructor as { name?: string } | undefined)?.name ?? '');

const numberOrNone = (code: unknown) => (typeof code === 'number' ? code : undefined);

/** The frames of an error's stack. The paths of the user's own code stay. */
function stackFrames({ stack, message }: ErrorLike, redact: Redactor): string {
  if (typeof stack !== 'string') return '';
  // Only below the message, which may itself have lines that look like frames.
  const at = stack.slice(0, MAX_START).indexOf(message.slice(0, MAX_START / 2));
  const from = Math.max(0, at) + message.length;
  return stack
    .slice(from, from + MAX_STACK_LENGTH)
    .split('\n')
    .filter((line) => /^\s+at .*(?::\d+:\d+|<anonymous>|native)\)?$/.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => redact(line))
    .join('\n');
}

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
