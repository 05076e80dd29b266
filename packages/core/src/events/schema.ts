import { type DeliveryContent, type PayloadIssue, WebhookError, withOrigin } from '../errors.ts';
import { redactedError } from '../report/error-text.ts';
import { looksLikeField, oneLine } from '../report/visible.ts';
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

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The type of the values that a schema returns after validation. */
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : never;

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Validates the body of a delivery with a user's schema, and returns its output.
 * @param body parsed
 * @param eventName for the error
 * @param includeValues whether issues have messages, which may quote the payload
 * @throws WebhookError `invalid-payload` with its `issues`
 */
export async function validate(
  schema: StandardSchema,
  body: unknown,
  sensitiveData: DeliveryContent,
  eventName: string | undefined,
  includeValues: boolean,
): Promise<unknown> {
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(body);
  } catch (error) {
    const says = 'The schema failed: ';
    const failed = redactedError('invalid-payload', says, error, sensitiveData, eventName);
    throw withOrigin(failed, { source: 'schema', error, sensitiveData });
  }
  if (!result.issues) return result.value;
  const names = shownNames(schema, body);
  const issues = result.issues.slice(0, MAX_ISSUES).map((issue): PayloadIssue => {
    const path = oneLine(shownPath(issue, includeValues ? undefined : names));
    const code = codeOf(issue, schema);
    return includeValues ? { path, code, message: oneLine(cut(issue.message)) } : { path, code };
  });
  const why = issues.map(({ path, code, message = code }) => `${path && `${path}: `}${message}`);
  const message = `The payload does not match its schema: ${why.join('; ')}.`;
  throw withOrigin(new WebhookError('invalid-payload', message, { eventName, issues }), {
    source: 'schema',
    error: new WebhookError('invalid-payload', message, {
      eventName,
      issues,
      cause: result.issues,
    }),
    sensitiveData,
  });
}

const MAX_ISSUES = 5;
/** In characters. */
const MAX_LENGTH = 500;
const MAX_INDEX = 9_999;
const MAX_NODES = 5_000;
/** Where these libraries keep the fields of an object schema, and the code of an issue. */
const LIBRARIES: Record<string, { fields: string; code: string } | undefined> = {
  zod: { fields: 'shape', code: 'code' },
  valibot: { fields: 'entries', code: 'type' },
};

const cut = (text: string) => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** Other libraries may use any string as a code. */
function codeOf(issue: object, schema: StandardSchema): string {
  const library = LIBRARIES[schema['~standard'].vendor];
  const code: unknown = library && Reflect.get(issue, library.code);
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : 'invalid';
}

/** @param names the keys that may be shown; all of them if it is `undefined` */
function shownPath({ path = [] }: SchemaIssue, names: ReadonlySet<string> | undefined): string {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  const isShown = (key: PropertyKey) =>
    !names || (typeof key === 'number' ? key <= MAX_INDEX : names.has(String(key)));
  return cut(keys.map((key) => (isShown(key) ? String(key) : '[key]')).join('.'));
}

const declared = new WeakMap<StandardSchema, ReadonlySet<string>>();

/**
 * The keys that may be shown. Only the keys that a schema declares are certainly not personal data,
 * unlike the keys of a record: `{ "Lovelace": 3 }`. If the declared keys cannot be read, these are the
 * body's keys in camel case.
 */
function shownNames(schema: StandardSchema, body: unknown): ReadonlySet<string> {
  const library = LIBRARIES[schema['~standard'].vendor];
  if (!library) {
    const keys = Object.keys(isRecord(body) ? body : {});
    return new Set(keys.filter(looksLikeField));
  }
  const known = declared.get(schema);
  if (known) return known;
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node) || seen.size >= MAX_NODES)
      return;
    seen.add(node);
    const fields: unknown = Reflect.get(node, library.fields);
    for (const name of Object.keys(Object(fields) as object)) names.add(name);
    for (const inner of Object.values(node)) visit(inner);
  };
  try {
    visit(schema);
  } catch {
    // A getter of the schema threw. The names found so far are enough.
  }
  declared.set(schema, names);
  return names;
}
