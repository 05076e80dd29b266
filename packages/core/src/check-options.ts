import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { WebhookError } from './outcome/webhook-error.ts';

/** The longest delay of a timer; milliseconds, about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TEN_YEARS_MS = 315_360_000_000;
/** A shorter memory than this would let the service's retries run an event twice; milliseconds. */
const MIN_REMEMBER_MS = 600_000;

const whole = (unit: string, min: number, max: number) =>
  z.custom<number>(
    (value: unknown) =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    `expected ${unit} from ${String(min)} to ${String(max)}`,
  );

/** The rules that options of stores, queues and workers are checked with. */
export const option = {
  count: (min: number, max: number) => whole('a whole number', min, max),
  /** A duration that a timer can wait for. */
  milliseconds: (min: number, max = MAX_TIMER_MS) => whole('whole milliseconds', min, max),
  /** How long a handled event is known as a duplicate; 24 hours by default. */
  rememberFor: () =>
    z._default(whole('whole milliseconds', MIN_REMEMBER_MS, TEN_YEARS_MS), 86_400_000),
  text: (pattern: RegExp, expected: string) =>
    z.custom<string>(
      (value: unknown) => typeof value === 'string' && pattern.test(value),
      expected,
    ),
  date: () =>
    z.custom<Date>(
      (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime()),
      'expected a valid Date',
    ),
  boolean: () => z.boolean(),
  function: <Type>() =>
    z.custom<Type>((value: unknown) => typeof value === 'function', 'expected a function'),
  object: <Type extends object>(...methods: string[]) =>
    z.custom<Type>(
      (value: unknown) =>
        typeof value === 'object' &&
        value !== null &&
        methods.every((name) => typeof Reflect.get(value, name) === 'function'),
      `expected an object${methods.length > 0 ? ` with ${methods.join(', ')}` : ''}`,
    ),
  /** Values by name. */
  record: <Rule extends z.core.SomeType>(rule: Rule) => z.record(z.string(), rule),
  /** The delays between the attempts of a job, in milliseconds. */
  backoff: (initialDelay: number, maxDelay: number) =>
    z.prefault(
      z.strictObject({
        initialDelay: z._default(whole('whole milliseconds', 0, MAX_TIMER_MS), initialDelay),
        maxDelay: z._default(whole('whole milliseconds', 0, MAX_TIMER_MS), maxDelay),
      }),
      {},
    ),
  optional: z.optional,
  default: z._default,
};

/** The messages of zod. zod/mini has none of its own, so that bundles stay small. */
const { localeError } = en();

/**
 * Checks options and fills in the defaults.
 * @param creator the function that was given the options, for the error's message
 * @param rules a rule for each option
 * @param docs the page that the error links to, if not the one about options
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function checkOptions<Rules extends z.core.$ZodShape>(
  creator: string,
  rules: Rules,
  options: unknown = {},
  docs?: string,
): z.output<z.ZodMiniObject<Rules, z.core.$strict>> {
  return checkAgainst(z.strictObject(rules), options, ` of ${creator}`, docs);
}

/**
 * As `checkOptions`, with a schema that may be kept.
 * @throws WebhookError `invalid-options`
 */
export function checkAgainst<Schema extends z.core.$ZodType>(
  schema: Schema,
  options: unknown,
  where = '',
  docs?: string,
): z.output<Schema> {
  const result = z.safeParse(schema, options, { error: localeError });
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    [...(path.length > 0 ? [path.join('.')] : []), message].join(': '),
  );
  const message = `Invalid options${where}: ${problems.join('; ')}.`;
  throw new WebhookError('invalid-options', message, { docs });
}
