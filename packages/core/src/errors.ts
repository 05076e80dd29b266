import type { FieldNames } from './events/call-details.ts';
import { type OutcomeCode, THROWN_ERRORS } from './outcome-table.ts';

/**
 * The code of a `WebhookError`: an outcome of the table `OUTCOMES`, or the reason why a function threw
 * (`invalid-secret`, `invalid-options`, `invalid-cursor`).
 */
export type WebhookErrorCode = OutcomeCode | keyof typeof THROWN_ERRORS;

/** One issue that your schema found in a payload. */
export interface PayloadIssue {
  /**
   * The path of the field, such as `'customer.name'`; empty for the payload itself. A key that the
   * schema does not declare is shown as `[key]`, because it may be personal data.
   */
  readonly path: string;
  /**
   * The code of the issue as zod and valibot name it, such as `'invalid_type'`; `'invalid'` for other
   * schema libraries.
   */
  readonly code: string;
  /**
   * The message of the schema, which may quote the payload. It is present only with
   * `includeSchemaValues`.
   */
  readonly message?: string;
}

/** The optional parts of a `WebhookError`, besides its code and its message. */
export interface WebhookErrorOptions extends ErrorOptions {
  /** The name of the event, if the body has one. */
  eventName?: string | undefined;
  /** Why a payload does not match your schema. */
  issues?: readonly PayloadIssue[] | undefined;
  /**
   * The link at the end of the message: a URL, or a page and anchor of the call-webhooks documentation,
   * such as `stores.md#redis`. By default, an error that is thrown to your code links to the section
   * about its code, and an outcome has no link.
   */
  docs?: string | undefined;
}

const BRAND = Symbol.for('@call-webhooks/WebhookError');

/**
 * The only error class of this package. `code` is stable and has a section in the docs. `message` is
 * for people, and may change in any release. Neither contains a secret or anything from a body.
 *
 * `instanceof` works across copies of the package (ESM and CJS, or two versions).
 * @example
 * try {
 *   await verify({ headers, body }, { secret });
 * } catch (error) {
 *   if (error instanceof WebhookError && error.code === 'signature-mismatch') return 401;
 *   throw error;
 * }
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** The stable code of the error. */
  readonly code: WebhookErrorCode;
  readonly [BRAND] = true;

  /** The name of the event whose payload is invalid, if the body has one. */
  declare readonly eventName?: string;
  /** Why the payload does not match your schema. */
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

/** For mistakes in the calling code. @param message names the option, and never quotes a value */
export const invalidOptions = (message: string, options?: WebhookErrorOptions): WebhookError =>
  new WebhookError('invalid-options', message, options);

/** For a cursor that a list did not give. It never quotes the cursor. */
export const invalidCursor = (): WebhookError =>
  new WebhookError(
    'invalid-cursor',
    'This list never returned such a cursor: the cursor is damaged, or it belongs to a list in another store. Pass the cursor of the previous page unchanged, or leave it out to get the first page.',
  );

/** Where `docs/` is published as a site. Only the README names this address as well. */
const SITE = 'https://call-webhooks.github.io/call-webhooks/';

/**
 * The absolute URL of a page of the documentation of call-webhooks, for log lines and errors: the pages
 * are not part of the published packages.
 * @param page a path below `docs/`, with an anchor if needed; a URL is returned unchanged
 * @example docsUrl('outcomes.md#handler-failed')
 */
export const docsUrl = (page: string): string =>
  /^https?:/.test(page) ? page : SITE + page.replace(/\.md(?=#|$)/, '.html');

/** What failed: your handler, a schema, the store, the queue, the secret provider, `deadLetter`, or another hook. */
export type ErrorSource =
  'handler' | 'schema' | 'store' | 'queue' | 'secret' | 'dead-letter' | 'hook';

/**
 * The content of a delivery as it arrived. Its personal data is kept out of log lines. The body is
 * parsed again when a text is redacted, because a handler may change the event that it is given.
 */
export interface DeliveryContent {
  /** The verified bytes, which are not shared with anything else. */
  readonly rawBody: Uint8Array;
  /** A copy of the schema's output for the body. */
  readonly made?: unknown;
  /** The names of the fields that identify the person who was called. */
  readonly fieldNames?: FieldNames | undefined;
}

/** What was thrown before it became a `WebhookError`. It may contain personal data. */
export interface ErrorOrigin {
  readonly source: ErrorSource;
  readonly error: unknown;
  /** `undefined` if the error cannot contain anything from the delivery, such as a store error. */
  readonly sensitiveData?: DeliveryContent | undefined;
  /** Whether it may quote a body that cannot be parsed, and so cannot be redacted: it is not logged. */
  readonly isWithheld?: boolean | undefined;
}

// Kept outside the error: `outcome.error` must not lead to personal data.
const origins = new WeakMap<WebhookError, readonly ErrorOrigin[]>();

/** Remembers what was thrown, in order. `onError` gets the originals. */
export function withOrigin(failure: WebhookError, ...thrown: ErrorOrigin[]): WebhookError {
  origins.set(failure, thrown);
  return failure;
}

/**
 * What was thrown before it became this error: nothing, one error, or also the error of `deadLetter`.
 */
export const originsOf = (failure: WebhookError): readonly ErrorOrigin[] =>
  origins.get(failure) ?? [];
