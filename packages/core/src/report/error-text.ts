import { type DeliveryContent, originsOf, WebhookError, type WebhookErrorCode } from '../errors.ts';
import { createRedactor, type Redact, type Redactor } from './redact.ts';

interface Details {
  readonly code?: string | number | undefined;
  readonly cause?: ErrorCopy | undefined;
  /** The parts of an `AggregateError`. */
  readonly errors?: readonly ErrorCopy[] | undefined;
}

/**
 * A redacted copy of what was thrown, without cycles and of a bounded size, for the field `err` of log
 * lines: pino, bunyan, `console` and `JSON.stringify` print all of it. A thrown string has no name.
 */
export type ErrorCopy = Error & Details;

const MAX_DEPTH = 5;
/** Of all causes and parts together. */
const MAX_ERRORS = 20;
/** Messages and stacks of all of them together: the parts of an error may each quote a whole body. */
const MAX_CHARACTERS = 100_000;
const MAX_NAME_LENGTH = 100;
const MAX_FRAMES = 10;
const MAX_STACK_LENGTH = 16_000;
/**
 * The length within which a stack has the name of its error and the beginning of the message;
 * characters.
 */
const MAX_START = 1_000;
const MAX_TEXT_LENGTH = 8_000;

/** Copies a thrown value. Never throws, whatever was thrown. */
export function redactedCopy(thrown: unknown, redact: Redactor): ErrorCopy {
  const seen = new Set<unknown>();
  let left = MAX_CHARACTERS;

  function copy(value: unknown, depth: number): ErrorCopy {
    seen.add(value);
    try {
      return isErrorLike(value) ? copyOfError(value, depth) : newCopy('', told(value, redact));
    } catch {
      return newCopy('', 'an error that cannot be read');
    }
  }

  function copyOfError(error: ErrorLike, depth: number): ErrorCopy {
    const { message, code, cause, errors } = error;
    const name = redact(nameOf(error).slice(0, MAX_NAME_LENGTH));
    const isRead = left > 0;
    left -= 2 * message.length; // the stack has it as well
    const text = isRead ? redact(message) : `a message of ${String(message.length)} characters`;
    const parts = Array.isArray(errors) ? errors.filter(isErrorLike) : [];
    return newCopy(name, text, isRead ? framesOf(error, redact) : '', {
      code: typeof code === 'string' ? redact(code.slice(0, MAX_NAME_LENGTH)) : numberOrNone(code),
      cause: cause === undefined || cause === null ? undefined : copyOfNext(cause, depth),
      errors: parts.flatMap((part) => copyOfNext(part, depth) ?? []),
    });
  }

  const copyOfNext = (value: unknown, depth: number): ErrorCopy | undefined =>
    depth === MAX_DEPTH || seen.size >= MAX_ERRORS || seen.has(value)
      ? undefined
      : copy(value, depth + 1);

  return copy(thrown, 0);
}

interface ErrorLike {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Includes errors of other realms, and objects that libraries throw as errors. */
const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { message?: unknown }).message === 'string';

const nameOf = (error: ErrorLike): string =>
  typeof error.name === 'string' && error.name !== ''
    ? error.name
    : ((error.constructor as { name?: string } | undefined)?.name ?? '');

const numberOrNone = (code: unknown) => (typeof code === 'number' ? code : undefined);

/**
 * Describes a thrown value that is not an error. Its fields may be names of people, and its values are
 * not needed.
 */
function told(value: unknown, redact: Redactor): string {
  if (typeof value === 'string') return redact(value);
  if (value === null) return 'a thrown null';
  if (typeof value !== 'object') return `a thrown ${typeof value}`;
  const names = Object.keys(value).slice(0, 5);
  return `a thrown object${names.length > 0 ? redact(` with ${names.join(', ')}`) : ''}`;
}

/** Frames that the user can do nothing about: ours, and those of Node. */
const FOREIGN_FRAME = /[\\/]node_modules[\\/]@call-webhooks[\\/]|[( ]node:[\w/]+:\d/;
/** A frame such as `at new Promise (<anonymous>)` is not one, and says nothing by itself. */
const PLACE = /:\d+:\d+\)?$/;

/** The frames of an error's stack. The paths of the user's own code stay. */
function framesOf({ stack, message }: ErrorLike, redact: Redactor): string {
  if (typeof stack !== 'string') return '';
  // Only below the message, which may itself have lines that look like frames.
  const at = stack.slice(0, MAX_START).indexOf(message.slice(0, MAX_START / 2));
  const from = Math.max(0, at) + message.length;
  const frames = stack
    .slice(from, from + MAX_STACK_LENGTH)
    .split('\n')
    .filter((line) => /^\s+at .*(?::\d+:\d+|<anonymous>|native)\)?$/.test(line))
    .filter((line) => !FOREIGN_FRAME.test(line));
  if (!frames.some((line) => PLACE.test(line))) return '';
  return frames
    .slice(0, MAX_FRAMES)
    .map((line) => redact(line))
    .join('\n');
}

export function newCopy(
  name: string,
  message: string,
  frames = '',
  { code, cause, errors = [] }: Details = {},
): ErrorCopy {
  const parts = errors.length > 0 ? errors : undefined;
  // A class of its own, since pino takes the type from the name of the constructor.
  const { [name]: Copy = Error } = {
    [name]: class extends Error {
      toJSON() {
        return { type: name, message, code, stack: this.stack, cause, errors: parts };
      }
    },
  };
  const copy = new Copy(message, cause && { cause });
  const stack = `${headOf({ name, message })}${frames && `\n${frames}`}`;
  Object.defineProperties(copy, {
    name: { value: name, enumerable: false },
    stack: { value: stack, enumerable: false },
    ...(parts && { errors: { value: parts, enumerable: false } }),
    ...(code !== undefined && { code: { value: code, enumerable: true } }),
  });
  return copy as ErrorCopy;
}

const headOf = ({ name, message }: Pick<Error, 'name' | 'message'>) =>
  [name, message].filter((text) => text !== '').join(': ');

/** The frames of a copy: its name and message are on one line. */
export const copiedFrames = ({ stack = '' }: ErrorCopy): string =>
  stack.split('\n').slice(1).join('\n');

const MAX_SHORT_FRAMES = 8;
const MAX_SHORT_STACK = 1_000;

/** The first frames of a redacted error, for what is kept; `undefined` if there are none. */
export function shortFrames({ stack = '' }: Pick<Error, 'stack'>): string | undefined {
  const frames = stack.split('\n').slice(1, MAX_SHORT_FRAMES + 1);
  let length = 0;
  const short = frames
    .map((frame) => frame.trim())
    .filter((frame) => {
      length += frame.length + 1;
      return frame.startsWith('at ') && length <= MAX_SHORT_STACK;
    });
  return short.length > 0 ? short.join('\n') : undefined;
}

/** A copy on one line: `name: message [code]`, its parts and its causes. */
export function errorText(copy: ErrorCopy): string {
  const { code, cause, errors = [] } = copy;
  const head = headOf(copy);
  const isNewCode = code !== undefined && !head.includes(String(code));
  const parts = [
    head + (isNewCode ? ` [${String(code)}]` : ''),
    ...(errors.length > 0 ? [`errors: ${errors.map(errorText).join(', ')}`] : []),
    ...(cause ? causeText(cause, copy) : []),
  ];
  return parts.join('; ').slice(0, MAX_TEXT_LENGTH);
}

/** Libraries wrap errors under the same message. */
function causeText(cause: ErrorCopy, { message }: ErrorCopy): string[] {
  if (cause.message !== message) return [`cause: ${errorText(cause)}`];
  return cause.cause ? causeText(cause.cause, cause) : [];
}

/**
 * An error with its causes on one line, redacted. Never throws.
 * @param content of the delivery; its values are removed
 * @example
 * describeError(error)
 * // 'TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.5:443'
 */
export const describeError = (error: unknown, content?: DeliveryContent): string =>
  errorText(redactedCopy(error, createRedactor('standard', content)));

/** A foreign error as a `WebhookError`: its stack frames, and its message redacted. */
export function redactedError(
  code: WebhookErrorCode,
  prefix: string,
  error: unknown,
  content?: DeliveryContent,
  eventName?: string,
): WebhookError {
  const copy = redactedCopy(error, createRedactor('standard', content));
  const redacted = new WebhookError(code, prefix + errorText(copy), { eventName });
  redacted.stack = `${redacted.name}: ${redacted.message}\n${copiedFrames(copy)}`;
  return redacted;
}

/**
 * Returns what may be logged about a thrown value. Secrets, email addresses and phone numbers are
 * removed from it by their form, and the stack has no frames of this library or of Node. Never throws,
 * whatever was thrown.
 * @param redact the option `redact` of a receiver or a worker; `'standard'` by default
 * @returns `text`, the error and its causes on one line, and `err`, a copy for the field of that name
 * @example
 * const { text, err } = loggedError(error);
 * safeLogger(logger).warn({ err }, `The queue is failing: ${text}`);
 */
export function loggedError(
  error: unknown,
  redact?: Redact,
): { readonly text: string; readonly err: Error } {
  const err = redactedCopy(error, createRedactor(redact));
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
    const err = redactedCopy(error, createRedactor(redact, sensitiveData));
    if (redact !== 'standard')
      message = message.replace(describeError(error, sensitiveData), () => errorText(err));
    first ??= err;
  }
  return first ? { message, err: first } : { message };
}
