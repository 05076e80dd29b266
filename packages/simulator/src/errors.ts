import * as z from 'zod/mini';

/** The code of a `SimulatorError`. Codes are stable; messages are for people, and may change. */
export type SimulatorErrorCode =
  /** An option or an argument is invalid. */
  | 'invalid-input'
  /** There is no rule, action, call, event or message with this id. */
  | 'not-found'
  /** The state of the record does not allow the operation: for example, the call has already ended. */
  | 'conflict'
  /** The URL of a receiver is not on this machine, and `allowExternal` is `false`. */
  | 'external-target';

const BRAND = Symbol.for('@call-webhooks/SimulatorError');

/**
 * The only error class of this package. `code` is stable. `instanceof` works across its ESM and CJS
 * copies.
 */
export class SimulatorError extends Error {
  override readonly name = 'SimulatorError';
  /** The stable code of the error. */
  readonly code: SimulatorErrorCode;
  readonly [BRAND] = true;

  constructor(code: SimulatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** A request that is refused before it reaches a route. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Checks an input and fills in the defaults. `undefined` and `null` count as an input without fields.
 * @throws SimulatorError `invalid-input`, which names each wrong field and what it must be
 */
export function checked<Schema extends z.core.$ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const result = z.safeParse(schema, input ?? {}, { error: expected });
  if (result.success) return result.data;
  throw new SimulatorError('invalid-input', result.error.issues.map(problem).join(' '));
}

/** The messages of schemas say what a value must be: `a string`, for example. */
function problem({ code, path, message }: z.core.$ZodIssue): string {
  const field = path.join('.');
  if (code === 'unrecognized_keys') return `${field && `${field}: `}${message}`;
  return `${field || 'The input'} must be ${message}.`;
}

/** The messages of schemas that have none of their own. */
function expected(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys')
    return issue.code === 'invalid_type' && issue.expected === 'array' ? 'a list' : 'an object';
  const names = issue.keys.map((name) => `"${name}"`).join(', ');
  const { shape = {} } = issue.inst?._zod.def as { shape?: object };
  return `There is no field ${names}. The fields are: ${Object.keys(shape).join(', ')}.`;
}

/** An object whose fields are not checked. */
export const anyObject = <Type extends object>() =>
  z.custom<Type>(
    (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'an object',
  );

/** A whole number. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.custom<number>(
    (value: unknown) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    `a whole number from ${String(min)} to ${String(max)}`,
  );

/** A number, which need not be whole. */
export const numberFrom = (min: number, max: number) =>
  z.custom<number>(
    (value: unknown) => typeof value === 'number' && value >= min && value <= max,
    `a number from ${String(min)} to ${String(max)}`,
  );

export const text = () => z.string('a string');
export const flag = () => z.boolean('true or false');
