import type { WebhookError } from './webhook-error.ts';

/** What failed: your handler, a schema, the store, the queue, the secret provider, `deadLetter`, or another hook. */
export type ErrorSource =
  'handler' | 'schema' | 'store' | 'queue' | 'secret' | 'dead-letter' | 'hook';

/** The content of a delivery. What is personal in it is kept out of log lines. */
export interface DeliveryContent {
  /** The parsed body. */
  readonly body: unknown;
  /** What a schema made of it. */
  readonly payload?: unknown;
}

/** What was thrown before it became a `WebhookError`. It may contain personal data. */
export interface ErrorOrigin {
  readonly source: ErrorSource;
  readonly error: unknown;
  /** `undefined` if what was thrown knows nothing of the delivery, as an error of a store. */
  readonly sensitiveData?: DeliveryContent | undefined;
  /** Whether it may quote a body that cannot be parsed, and so cannot be redacted: it is not logged. */
  readonly isWithheld?: boolean | undefined;
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
