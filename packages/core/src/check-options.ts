import * as z from 'zod/mini';
import { invalidOptions } from './errors.ts';
import { MAX_TIMER_MS } from './time.ts';

const TEN_YEARS_MS = 315_360_000_000;
/** A shorter memory than this would let the service's retries run an event twice; milliseconds. */
const MIN_REMEMBER_MS = 600_000;
/** Thirty days in seconds, passed by mistake, are less; milliseconds. */
const MIN_KEEP_MS = 3_600_000;

/** A rule for an option. It has a name here, so that other packages can export rules of their own. */
export interface OptionRule<Output> extends z.core.$ZodType<Output> {}

const whole = (unit: string, min: number, max: number): OptionRule<number> =>
  z.custom<number>(
    (value: unknown) =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    `expected ${unit} from ${String(min)} to ${String(max)}`,
  );

const text = (pattern: RegExp, expected: string): OptionRule<string> =>
  z.custom<string>((value: unknown) => typeof value === 'string' && pattern.test(value), expected);

/** The rules for checking the options of stores, queues, workers and adapters. */
export const option = {
  count: (min: number, max: number) => whole('a whole number', min, max),
  /** A duration that a timer can wait for. */
  milliseconds: (min: number, max = MAX_TIMER_MS) => whole('whole milliseconds', min, max),
  /** How long a handled event is known as a duplicate; 24 hours by default. */
  rememberFor: (): OptionRule<number> =>
    z._default(whole('whole milliseconds', MIN_REMEMBER_MS, TEN_YEARS_MS), 86_400_000),
  /** How long dead letters and dead jobs are kept; without a limit by default. */
  keepFor: (): OptionRule<number | undefined> =>
    z.optional(whole('whole milliseconds', MIN_KEEP_MS, TEN_YEARS_MS)),
  text,
  /** Where a receiver is mounted, to compare with the paths of requests. */
  path: (): OptionRule<string> =>
    text(
      /^\/[^?#:*]*$/,
      "expected a path that starts with a slash, without origin, query, fragment and pattern, such as '/hook'. For a pattern, leave out path and mount it on a route of the framework",
    ),
  date: (): OptionRule<Date> => z.date('expected a valid Date'),
  boolean: (): OptionRule<boolean> => z.boolean('expected true or false'),
  string: (): OptionRule<string> => z.string('expected a string'),
  function: <Type>(): OptionRule<Type> =>
    z.custom<Type>((value: unknown) => typeof value === 'function', 'expected a function'),
  object: <Type extends object>(...methods: string[]): OptionRule<Type> =>
    z.custom<Type>(
      (value: unknown) =>
        typeof value === 'object' &&
        value !== null &&
        methods.every((name) => typeof Reflect.get(value, name) === 'function'),
      `expected an object${methods.length > 0 ? ` with ${methods.join(', ')}` : ''}`,
    ),
  /** Values by name. Unlike `z.record`, it takes an object of a class as well. */
  record: <Output>(rule: OptionRule<Output>): OptionRule<Record<string, Output>> =>
    z.catchall(z.object({}), rule),
  /** The delays between the attempts of a job, in milliseconds. */
  backoff: (
    initialDelay: number,
    maxDelay: number,
  ): OptionRule<{ initialDelay: number; maxDelay: number }> =>
    z.prefault(
      z.strictObject({
        initialDelay: z._default(whole('whole milliseconds', 0, MAX_TIMER_MS), initialDelay),
        maxDelay: z._default(whole('whole milliseconds', 0, MAX_TIMER_MS), maxDelay),
      }),
      {},
    ),
  /** An option that belongs elsewhere, and may be passed here by mistake. */
  notHere: (owner: string): OptionRule<undefined> =>
    z.optional(z.undefined(`it is an option of ${owner}`)),
  optional: <Output>(rule: OptionRule<Output>): OptionRule<Output | undefined> => z.optional(rule),
  /** @param byDefault the value, or a function that returns it */
  default: <Output>(
    rule: OptionRule<Output>,
    byDefault: Output | (() => Output),
  ): OptionRule<Output> => z._default(rule, byDefault as never),
};

/**
 * Checks options and fills in the defaults.
 * @param creator the function that was given the options, for the error's message
 * @param rules a rule for each option
 * @param docs the page that the error links to, if not the one about options
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function checkOptions<Options extends object>(
  creator: string,
  rules: { [Name in keyof Options]: OptionRule<Options[Name]> },
  options: unknown = {},
  docs?: string,
): Options {
  const schema: z.core.$ZodType = z.strictObject(rules);
  return checkAgainst(schema as OptionRule<Options>, options, ` of ${creator}`, docs);
}

/**
 * Checks options like `checkOptions`, but with a schema that can be reused.
 * @throws WebhookError `invalid-options`
 */
export function checkAgainst<Schema extends z.core.$ZodType>(
  schema: Schema,
  options: unknown,
  where = '',
  docs?: string,
): z.output<Schema> {
  const result = z.safeParse(schema, options, { error: expected, reportInput: true });
  if (result.success) {
    bindMethods(result.data, options);
    return result.data;
  }
  const message = `Invalid options${where}: ${result.error.issues.map(problem).join('; ')}.`;
  throw invalidOptions(message, { docs });
}

/** `Object.prototype`, of any realm. */
export const isRoot = (object: object): boolean =>
  Reflect.getPrototypeOf(object) === null && Object.hasOwn(object, 'hasOwnProperty');

/** Whether an object was written as `{ … }`, and is not an instance of a class. */
export function isPlain(object: object): boolean {
  const prototype = Reflect.getPrototypeOf(object);
  return prototype === null || isRoot(prototype);
}

/** Options may be an instance of a class. Its methods use `this`, even if they are called on a copy. */
export const boundTo = (options: object, value: unknown): unknown =>
  typeof value === 'function' && !isPlain(options) ? (value.bind(options) as unknown) : value;

/** @param copy what zod made of `options`, and what is in it */
function bindMethods(copy: unknown, options: unknown): void {
  if (typeof copy !== 'object' || typeof options !== 'object') return;
  if (copy === null || options === null || copy === options || Array.isArray(copy)) return;
  for (const [name, value] of Object.entries(copy)) {
    const given: unknown = Reflect.get(options, name);
    if (value === given) Reflect.set(copy, name, boundTo(options, value));
    else bindMethods(value, given);
  }
}

/** Names the option, and says what was expected, but never the value: it may be a secret. */
function problem({ path, input, message }: z.core.$ZodIssue): string {
  if (path.length === 0) return message;
  return `${path.join('.')}: ${input === undefined ? 'it is missing' : message}`;
}

/** The messages of rules that have none of their own: those of objects. */
function expected(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys') return 'expected an object';
  return `there is no option ${issue.keys.map((name) => `"${name}"`).join(', ')}`;
}
