import type { WebhookError } from './webhook-error.ts';

/** What failed: your handler, a schema, the store, the queue, the secret provider, `deadLetter`, or another hook. */
export type ErrorSource =
  'handler' | 'schema' | 'store' | 'queue' | 'secret' | 'dead-letter' | 'hook';

/** What was thrown before it became a `WebhookError`. It may contain personal data. */
export interface ErrorOrigin {
  readonly source: ErrorSource;
  readonly error: unknown;
  /** The content of the delivery, which log lines leave out. */
  readonly sensitiveData?: unknown;
}

// Kept beside the error, not in it: `outcome.error` must not lead to personal data.
const origins = new WeakMap<WebhookError, readonly ErrorOrigin[]>();

/** Remembers what was thrown, in order. `onError` gets the originals. */
export function withOrigin(failure: WebhookError, ...thrown: ErrorOrigin[]): WebhookError {
  origins.set(failure, thrown);
  return failure;
}

/** What was thrown before it became this error: nothing, one error, or that of `deadLetter` as well. */
export const originsOf = (failure: WebhookError): readonly ErrorOrigin[] =>
  origins.get(failure) ?? [];
