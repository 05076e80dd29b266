import { type PayloadIssue, WebhookError, withOrigin } from '../errors.ts';
import { redactedError } from '../report/error-text.ts';
import { redactStrictly, sensitiveTexts } from '../report/redact.ts';
import { isRecord } from './events.ts';

/**
 * The part of the Standard Schema interface that this package uses. zod, valibot, arktype and others
 * implement it, so your schemas can come from any of them.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema makes of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The type of a schema's values after validation. */
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : never;

/**
 * The value after validation by a user's schema.
 * @param eventName for the error
 * @param includeValues whether issues may quote values of the payload
 * @throws WebhookError `invalid-payload` with its `issues`
 */
export async function validate(
  schema: StandardSchema,
  value: unknown,
  eventName: string | undefined,
  includeValues: boolean,
): Promise<unknown> {
  const content = { body: value };
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    const failed = redactedError(
      'invalid-payload',
      'The schema failed: ',
      error,
      content,
      eventName,
    );
    throw withOrigin(failed, { source: 'schema', error, sensitiveData: content });
  }
  if (!result.issues) return result.value;
  const issues = payloadIssues(schema, result.issues, value, includeValues);
  const why = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const message = `The payload does not match its schema: ${why.join('; ')}.`;
  const cause = result.issues;
  throw withOrigin(new WebhookError('invalid-payload', message, { eventName, issues }), {
    source: 'schema',
    error: new WebhookError('invalid-payload', message, { eventName, issues, cause }),
    sensitiveData: content,
  });
}

/** Why a value does not match a schema. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const MAX_ISSUES = 5;
/** In characters. Also limits how long the search below can take. */
const MAX_LENGTH = 500;
const MAX_SEARCHED = 100_000;
/** So many characters in a row that also occur in the payload count as a quote of it. */
const QUOTE_LENGTH = 4;
const MAX_INDEX = 9_999;

/** Words of schema libraries. A payload that contains them, too, does not make them a quote. */
const VOCABULARY = new Set(
  `a an and any array at be bigint boolean characters code custom date datetime does email empty
  equal exactly expected field file for format found from greater has have in input instance
  integer int invalid is it items key keys least less length literal long map match matching
  maximum minimum missing most must nan nor not null number object of one only option or pattern
  payload positive property received record required schema set short should small big string
  symbol than the to too tuple type undefined union unknown unrecognized url uuid valid value was
  with within`.split(/\s+/),
);

/** The libraries whose schemas list their field names in a way that `declaredNames` can read. */
const READABLE = new Set(['zod', 'valibot']);
/** Where schemas keep the fields of an object. */
const FIELD_LISTS = ['shape', 'entries'];
const MAX_NODES = 5_000;

/**
 * The issues of a user's schema, fit for a log line: the first five.
 *
 * Unless `includeValues` is true, nothing of the payload is in them:
 * - A path shows array indexes and the field names that the schema declares. Other keys become
 *   `[key]`, as those of a record may be names of people. Of a schema that is from neither zod nor
 *   valibot, the declared names are unknown: its paths show top-level keys in lower camel case.
 * - A message is redacted. If what is left still has four letters or digits in a row that occur in a
 *   value or an undeclared key, the message is withheld, and only the issue's code is given.
 *
 * With `includeValues`, control characters are removed and texts are cut at 500 characters.
 */
export function payloadIssues(
  schema: { readonly '~standard': { readonly vendor: string } },
  issues: readonly SchemaIssue[],
  payload: unknown,
  includeValues: boolean,
): PayloadIssue[] {
  const first = issues.slice(0, MAX_ISSUES);
  const segments = ({ path = [] }: SchemaIssue) =>
    path.map((part) => (typeof part === 'object' ? part.key : part));
  if (includeValues)
    return first.map((issue) => ({
      path: oneLine(segments(issue).map(String).join('.')),
      message: oneLine(issue.message),
    }));
  const names =
    declaredNames(schema, schema['~standard'].vendor) ?? new Set(camelCaseKeys(payload));
  const content = contentOf(payload, names);
  const texts = sensitiveTexts([payload, content?.keys], Infinity, 200_000);
  const quotes = (text: string) => content === undefined || quotesAny(text, content.searched);
  const cleanSegment = (segment: PropertyKey): string => {
    if (typeof segment === 'number') return segment <= MAX_INDEX ? String(segment) : '[key]';
    return typeof segment === 'string' && names.has(segment) ? segment : '[key]';
  };
  const cleanMessage = (issue: SchemaIssue): string => {
    const clean = redactStrictly(issue.message, texts);
    if (clean.length <= MAX_LENGTH && !quotes(clean)) return clean;
    const code = 'code' in issue ? issue.code : undefined;
    const isSafe = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) && !quotes(code);
    return `[message withheld: it may quote the payload]${isSafe ? ` ${code}` : ''}`;
  };
  return first.map((issue) => ({
    path: segments(issue).map(cleanSegment).join('.'),
    message: cleanMessage(issue),
  }));
}

const oneLine = (text: string): string => {
  const line = text.slice(0, MAX_LENGTH * 2).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
};

const camelCaseKeys = (payload: unknown): string[] =>
  Object.keys(isRecord(payload) ? payload : {}).filter((key) => /^[a-z][A-Za-z0-9]*$/.test(key));

/** These fields identify events, not people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);

/** The values and the undeclared keys of a payload; `undefined` if they are too long to search. */
function contentOf(payload: unknown, names: Set<string>) {
  const keys = new Set<string>();
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (PLAIN_FIELDS.has(key) && typeof inner === 'string') continue;
      if (!names.has(key)) keys.add(key);
      visit(inner);
    }
  };
  visit(payload);
  const searched = normalized([...texts, ...keys].join('\n'));
  return searched.length > MAX_SEARCHED ? undefined : { keys, searched };
}

const normalized = (text: string) => text.normalize('NFKC').toLowerCase();

const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;

/** Whether a redacted text still has a part of the content, whole words of two letters included. */
function quotesAny(text: string, content: string): boolean {
  const rest = normalized(text.replaceAll('[redacted]', ' '));
  if (rest.match(SPACELESS)?.some((letter) => content.includes(letter)) === true) return true;
  const words = new Set(content.match(/[\p{L}\p{M}\p{N}]+/gu));
  return (rest.match(/[\p{L}\p{M}\p{N}]{2,}/gu) ?? []).some((word) => {
    if (VOCABULARY.has(word)) return false;
    if (words.has(word)) return true;
    for (let at = 0; at + QUOTE_LENGTH <= word.length; at++)
      if (content.includes(word.slice(at, at + QUOTE_LENGTH))) return true;
    return false;
  });
}

/**
 * The field names that a schema declares: the only keys of a body that are surely no personal data.
 * A key of a record (`{ "Lovelace": 3 }`) is not among them.
 * @returns `undefined` for the schema of a library that is not known here
 */
function declaredNames(schema: unknown, vendor: string): Set<string> | undefined {
  if (!READABLE.has(vendor)) return undefined;
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (seen.has(node) || seen.size >= MAX_NODES) return;
    seen.add(node);
    for (const list of FIELD_LISTS) {
      const fields = (node as Record<string, unknown>)[list];
      if (typeof fields === 'object' && fields !== null)
        for (const name of Object.keys(fields)) names.add(name);
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  try {
    visit(schema);
  } catch {
    // A getter of the schema threw. The names found so far are enough: others are redacted.
  }
  return names;
}
