import * as v from 'valibot';
import { WebhookError } from './errors.ts';

/** The longest delay of a timer; milliseconds, about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TEN_YEARS_MS = 315_360_000_000;
/** A shorter memory than this would let the service's retries run an event twice; milliseconds. */
const MIN_REMEMBER_MS = 600_000;

/** A rule for an option. It has a name here, so that other packages can export rules of their own. */

export interface OptionRule<Output> extends v.GenericSchema<unknown, Output> {}

type AnyRule = v.GenericSchema;

const whole = (unit: string, min: number, max: number): OptionRule<number> =>
  v.custom<number>(
    (value: unknown) =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    `expected ${unit} from ${String(min)} to ${String(max)}`,
  );

const text = (pattern: RegExp, expected: string): OptionRule<string> =>
  v.custom<string>((value: unknown) => typeof value === 'string' && pattern.test(value), expected);

/** The rules that options of stores, queues, workers and adapters are checked with. */
export const option = {
  count: (min: number, max: number) => whole('a whole number', min, max),
  /** A duration that a timer can wait for. */
  milliseconds: (min: number, max = MAX_TIMER_MS) => whole('whole milliseconds', min, max),
  /** How long a handled event is known as a duplicate; 24 hours by default. */
  rememberFor: (): OptionRule<number> =>
    v.optional(whole('whole milliseconds', MIN_REMEMBER_MS, TEN_YEARS_MS), 86_400_000),
  text,
  /** Where a receiver is mounted, to compare with the paths of requests. */
  path: (): OptionRule<string> =>
    text(
      /^\/[^?#:*]*$/,
      "expected a path that starts with a slash, without origin, query, fragment and pattern, such as '/hook'. For a pattern, leave out path and mount it on a route of the framework",
    ),
  date: (): OptionRule<Date> =>
    v.custom<Date>(
      (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime()),
      'expected a valid Date',
    ),
  boolean: (): OptionRule<boolean> => v.boolean('expected true or false'),
  string: (): OptionRule<string> => v.string('expected a string'),
  function: <Type>(): OptionRule<Type> =>
    v.custom<Type>((value: unknown) => typeof value === 'function', 'expected a function'),
  object: <Type extends object>(...methods: string[]): OptionRule<Type> =>
    v.custom<Type>(
      (value: unknown) =>
        typeof value === 'object' &&
        value !== null &&
        methods.every((name) => typeof Reflect.get(value, name) === 'function'),
      `expected an object${methods.length > 0 ? ` with ${methods.join(', ')}` : ''}`,
    ),
  /** Values by name. */
  record: <Output>(rule: OptionRule<Output>): OptionRule<Record<string, Output>> =>
    v.record(v.string(), rule, 'expected an object'),
  /** The delays between the attempts of a job, in milliseconds. */
  backoff: (
    initialDelay: number,
    maxDelay: number,
  ): OptionRule<{ initialDelay: number; maxDelay: number }> =>
    v.optional(
      v.strictObject({
        initialDelay: v.optional(whole('whole milliseconds', 0, MAX_TIMER_MS), initialDelay),
        maxDelay: v.optional(whole('whole milliseconds', 0, MAX_TIMER_MS), maxDelay),
      }),
      {},
    ),
  optional: <Output>(rule: OptionRule<Output>): OptionRule<Output | undefined> => v.optional(rule),
  /** @param byDefault the value, or a function that returns it */
  default: <Output>(
    rule: OptionRule<Output>,
    byDefault: Output | (() => Output),
  ): OptionRule<Output> => v.optional(rule, byDefault as never),
};

/**
 * Checks options and fills in the defaults.
 * @param creator the function that was given the options, for the error's message
 * @param rules a rule for each option
 * @param docs the page that the error links to, if not the one about options
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function checkOptions<Rules extends v.ObjectEntries>(
  creator: string,
  rules: Rules,
  options: unknown = {},
  docs?: string,
): v.InferOutput<v.StrictObjectSchema<Rules, undefined>> {
  return checkAgainst(v.strictObject(rules), options, ` of ${creator}`, docs);
}

/**
 * As `checkOptions`, with a schema that may be kept.
 * @throws WebhookError `invalid-options`
 */
export function checkAgainst<Schema extends AnyRule>(
  schema: Schema,
  options: unknown,
  where = '',
  docs?: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, options);
  if (result.success) return result.output;
  const message = `Invalid options${where}: ${result.issues.map(problem).join('; ')}.`;
  throw new WebhookError('invalid-options', message, { docs });
}

/** Names the option, and says what was expected, but never the value: it may be a secret. */
function problem({ type, path, message, expected, received }: v.BaseIssue<unknown>): string {
  const names = path?.map(({ key }) => String(key)) ?? [];
  const at = (place: readonly string[], what: string) =>
    place.length > 0 ? `${place.join('.')}: ${what}` : what;
  if (type !== 'strict_object') return at(names, message);
  if (expected === 'never') return at(names.slice(0, -1), `there is no option ${received}`);
  return at(
    names,
    names.length > 0 && received === 'undefined' ? 'it is missing' : 'expected an object',
  );
}
