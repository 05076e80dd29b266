import type { FieldNames } from './events/call-details.ts';
import { type OutcomeCode, THROWN_ERRORS } from './outcome-table.ts';

/**
 * The codes of `WebhookError`: those of the outcome table, and those of errors that are thrown to the
 * code that calls us: for a secret, an option, or the cursor of a list.
 */
export type WebhookErrorCode = OutcomeCode | keyof typeof THROWN_ERRORS;

/** An issue that a schema found. */
export interface PayloadIssue {
  /** `'customer.name'`; empty for the payload itself. Keys that the schema does not declare are `[key]`. */
  readonly path: string;
  /** `'invalid_type'`, for example, as zod and valibot call it; `'invalid'` of other libraries. */
  readonly code: string;
  /** What the schema says, which may quote the payload; only with `includeSchemaValues`. */
  readonly message?: string;
}

/** What a `WebhookError` has besides its code and its message. */
export interface WebhookErrorOptions extends ErrorOptions {
  eventName?: string | undefined;
  issues?: readonly PayloadIssue[] | undefined;
  /**
   * What the message links to: a URL, or a page of the documentation of call-webhooks with its anchor, such as
   * `stores.md#redis`. By default, errors that are thrown link to the section about their code, and outcomes to
   * nothing.
   */
  docs?: string | undefined;
}

const BRAND = Symbol.for('@call-webhooks/WebhookError');

/**
 * The only error class of this package. `code` is stable and has a section in the docs; the message
 * is for people and may change. Neither contains a secret or anything from a body.
 *
 * `instanceof` works across copies of the package (ESM and CJS, or two versions).
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  readonly [BRAND] = true;

  /** The event name of an invalid payload, if its body has one. */
  declare readonly eventName?: string;
  /** Why a payload does not match your schema. */
  declare readonly issues?: readonly PayloadIssue[];

  constructor(code: WebhookErrorCode, message: string, options: WebhookErrorOptions = {}) {
    // Log lines have the link to an outcome. These errors are thrown, so they bring their own.
    const isThrown = Object.hasOwn(THROWN_ERRORS, code);
    const docs = options.docs ?? (isThrown ? `outcomes.md#${code}` : undefined);
    super(docs === undefined ? message : `${message} See ${docsUrl(docs)}`, options);
    this.code = code;
    if (options.eventName !== undefined) this.eventName = options.eventName;
    if (options.issues !== undefined) this.issues = options.issues;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      return typeof value === 'object' && value !== null && BRAND in value;
    } catch {
      return false; // a proxy: anything may be thrown
    }
  }
}

/** For what the code that calls us got wrong. @param message names the option, and never quotes a value */
export const invalidOptions = (message: string, options?: WebhookErrorOptions): WebhookError =>
  new WebhookError('invalid-options', message, options);

/** For a cursor that a list did not give. It never quotes the cursor. */
export const invalidCursor = (): WebhookError =>
  new WebhookError(
    'invalid-cursor',
    'This cursor is not one that this list gave: it is damaged, or a list of another store gave it. Pass the cursor of the page before, unchanged, or leave it out to begin with the first page.',
  );

/** Where `docs/` is published as a site. Only the README names this address as well. */
const SITE = 'https://call-webhooks.github.io/call-webhooks/';

/**
 * The absolute URL of a page of the documentation, for log lines and errors: the pages are not part
 * of the published packages.
 * @param page a path below `docs/`, with an anchor if need be; a URL is returned as it is
 * @example docsUrl('outcomes.md#handler-failed')
 */
export const docsUrl = (page: string): string =>
  /^https?:/.test(page) ? page : SITE + page.replace(/\.md(?=#|$)/, '.html');

/** What failed: your handler, a schema, the store, the queue, the secret provider, `deadLetter`, or another hook. */
export type ErrorSource =
  'handler' | 'schema' | 'store' | 'queue' | 'secret' | 'dead-letter' | 'hook';

/**
 * The content of a delivery, as it was delivered. What is personal in it is kept out of log lines. It
 * is parsed anew when a text is redacted, since a handler may change the event that it is given.
 */
export interface DeliveryContent {
  /** The verified bytes, which nobody else has. */
  readonly rawBody: Uint8Array;
  /** A copy of what a schema made of the body. */
  readonly made?: unknown;
  /** Which fields tell who was called. */
  readonly fieldNames?: FieldNames | undefined;
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
