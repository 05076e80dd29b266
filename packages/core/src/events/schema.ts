import { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact.ts';
import { payloadIssues, type SchemaIssue } from './schema-issues.ts';

export type { SchemaIssue };

/**
 * The part of the Standard Schema interface that this package uses. zod, valibot, arktype and others
 * implement it, so your schemas need not come from our copy of zod.
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
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    throw redactedError('invalid-payload', 'The schema failed: ', error, value, eventName);
  }
  if (!result.issues) return result.value;
  const issues = payloadIssues(schema, result.issues, value, includeValues);
  const why = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  throw new WebhookError(
    'invalid-payload',
    `The payload does not match its schema: ${why.join('; ')}.`,
    { eventName, issues },
  );
}
