import { DELIVERY_SOURCES } from '@call-webhooks/core/internal';
import * as z from 'zod/mini';
import { invalid } from './http/answer.ts';
import { OUTCOME_CODES, RESULTS } from './results.ts';

const MAX_TEXT = 300;
const MAX_IDS = 500;
/** The longest that a request waits for what it has started; milliseconds. */
const MAX_WAIT_MS = 20_000;
/** The last millisecond that a `Date` can have. */
const END_OF_TIME = 8.64e15;

/** Databases refuse NUL and halves of surrogate pairs. No id, name or search of a person has them. */
export const isStorable = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);

// The messages hold nothing of the request.
const someText = () =>
  z
    .string('expected a string')
    .check(
      z.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
      z.refine(isStorable, 'expected no control characters and no lone surrogates'),
    );
const text = () => z.optional(someText());
const oneOf = <const Text extends string>(texts: readonly Text[]) =>
  z.optional(z.enum(texts as readonly [Text, ...Text[]], `expected one of ${texts.join(', ')}`));
const isWithin = (value: unknown, min: number, max: number) =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const whole = (min: number, max: number) =>
  z.custom<number>(
    (value) => isWithin(value, min, max),
    `expected a whole number from ${min} to ${max}`,
  );
/** A number in a query. */
const digits = (min: number, max: number) =>
  z.optional(
    z.pipe(
      z.custom<string>(
        (given) =>
          typeof given === 'string' &&
          /^\d{1,16}$/.test(given) &&
          isWithin(Number(given), min, max),
        `expected a whole number from ${min} to ${max}`,
      ),
      z.transform(Number),
    ),
  );
/** How long the response waits for the end; 0 by default. Serverless functions need it. */
const waitMs = z.optional(whole(0, MAX_WAIT_MS));

const SELECTION = {
  event: text(),
  tenant: text(),
  text: text(),
  reason: oneOf(['handler-failed', 'invalid-payload']),
  /** The id of a `Cause`. */
  cause: text(),
};

/** What ended at `since` or later, and before `until`; milliseconds since the epoch. */
const PERIOD = { since: digits(0, END_OF_TIME), until: digits(0, END_OF_TIME) };

/** Which dead letters are meant: exactly one of the first three. */
const LETTERS = {
  ids: z.optional(
    z
      .array(someText(), `expected 1 to ${MAX_IDS} ids`)
      .check(z.minLength(1), z.maxLength(MAX_IDS, `expected 1 to ${MAX_IDS} ids`)),
  ),
  filter: z.optional(z.strictObject(SELECTION, 'expected an object of conditions')),
  all: z.optional(z.literal(true, 'expected true')),
  waitMs,
};

/** Whether a name is one of a time zone that this process knows. */
function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const zone = () =>
  z.optional(someText().check(z.refine(isZone, 'expected a time zone such as Europe/Oslo')));

/** What the routes of the API take. Conditions that are given all have to hold. */
export const REQUESTS = {
  nothing: z.strictObject({}),
  deliveries: z.strictObject({
    result: oneOf(RESULTS),
    outcome: oneOf(OUTCOME_CODES),
    source: oneOf(DELIVERY_SOURCES),
    /** `before` is that of the page before. */
    event: text(),
    call: text(),
    tenant: text(),
    text: text(),
    /** The id of a `FailureCause`. */
    cause: text(),
    /** Of the app whose process had it. */
    version: text(),
    ...PERIOD,
    before: text(),
  }),
  /** By default, of the last 26 hours. */
  failures: z.strictObject({ event: text(), tenant: text(), ...PERIOD }),
  /** Of the status: a tenant, and the time zone of its texts (an IANA name; that of the process by default). */
  overview: z.strictObject({ tenant: text(), timeZone: zone() }),
  times: z.strictObject({ range: oneOf(['hour', 'day']), event: text() }),
  call: z.strictObject({ tenant: text() }),
  deadLetters: z.strictObject({ ...SELECTION, offset: digits(0, 1e6), limit: digits(1, 200) }),
  /** `about` is of a person, so it is never in an address; `before` is that of the page before. */
  person: z.strictObject({ about: someText(), ...SELECTION, before: text() }),
  letters: z.strictObject(LETTERS),
  /** What a search with the same `about` and conditions finds. `forgetKeys`: its events may run again. */
  erasure: z.strictObject({
    about: someText(),
    ...SELECTION,
    forgetKeys: z.optional(z.boolean('expected true or false')),
    waitMs,
  }),
  /** Calls that began at `since` or later and before `until`; 10 minutes ago by default. */
  reconcile: z.strictObject({
    dryRun: z.boolean('expected true or false'),
    since: whole(0, END_OF_TIME),
    until: z.optional(whole(0, END_OF_TIME)),
    waitMs,
  }),
};

/** The query of `api/deliveries`. */
export type DeliveriesQuery = z.output<typeof REQUESTS.deliveries>;
/** The query of `api/failures`. */
export type FailuresQuery = z.output<typeof REQUESTS.failures>;
/** The query of `api/times`. */
export type TimesQuery = z.output<typeof REQUESTS.times>;
/** The query of `api/dead-letters`. */
export type DeadLettersQuery = z.output<typeof REQUESTS.deadLetters>;
/** What `api/dead-letters` and a redrive choose by. */
export type DeadLetterSelection = Omit<DeadLettersQuery, 'offset' | 'limit'>;
/** The body of `api/dead-letters/search`. */
export type PersonQuery = z.output<typeof REQUESTS.person>;
/** The body of `api/redrive` and of `api/remove`. */
export type LettersRequest = z.output<typeof REQUESTS.letters>;
/** The body of `api/erase`. */
export type ErasureRequest = z.output<typeof REQUESTS.erasure>;
export type ReconcileRequest = z.output<typeof REQUESTS.reconcile>;

/** @throws RequestError `invalid-request` for what does not follow the rules, or has no rule */
export function checked<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape, z.core.$strict>,
  given: unknown,
): z.output<z.ZodMiniObject<Shape, z.core.$strict>> {
  const names = Object.keys(schema.shape).join(', ');
  const only = names === '' ? 'expected no parameters' : `expected only ${names}`;
  const result = z.safeParse(schema, given, {
    error: ({ code }) => (code === 'unrecognized_keys' ? only : 'expected a JSON object'),
  });
  if (result.success) return result.data;
  const [{ path, message } = { path: [], message: '' }] = result.error.issues;
  throw invalid(path.length > 0 ? `${String(path[0])}: ${message}` : message);
}

/**
 * The parameters of a query, each at most once. Those without a value are left out.
 * @throws RequestError `invalid-request`
 */
export function queryOf<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape, z.core.$strict>,
  query: URLSearchParams,
) {
  const given = [...query].filter(([, value]) => value !== '');
  const repeated = Object.keys(schema.shape).find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined)
    throw invalid(`${repeated}: expected one value, but the parameter is repeated`);
  return checked(schema, Object.fromEntries(given));
}
