import { withOrigin } from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact/error-text.ts';
import { payloadIssues, type SchemaIssue } from './schema-issues.ts';

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
