import type { Redactor } from './redactor.ts';

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
const MAX_NAME_LENGTH = 100;
const MAX_FRAMES = 10;
const MAX_STACK_LENGTH = 16_000;

/** Reads a thrown value. Never throws, whatever was thrown. */
export function errorDetails(thrown: unknown, redact: Redactor): ErrorDetails {
  const seen = new Set<unknown>();

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
    return {
      name: redact(nameOf(name, error).slice(0, MAX_NAME_LENGTH)),
      message: redact(message),
      code: typeof code === 'string' ? redact(code.slice(0, MAX_NAME_LENGTH)) : numberOrNone(code),
      frames: stackFrames(error, redact),
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
  const from = Math.max(0, stack.indexOf(message)) + message.length;
  return stack
    .slice(from, from + MAX_STACK_LENGTH)
    .split('\n')
    .filter((line) => /^\s+at .*(?::\d+:\d+|<anonymous>|native)\)?$/.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => redact(line))
    .join('\n');
}
