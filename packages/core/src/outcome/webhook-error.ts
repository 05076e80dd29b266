import { CONFIGURATION_ERRORS, type OutcomeCode } from './outcomes.ts';

/** The codes of `WebhookError`: those of the outcome table, and two for configuration errors. */
export type WebhookErrorCode = OutcomeCode | keyof typeof CONFIGURATION_ERRORS;

/** An issue that a schema found. Values of the payload are redacted unless you asked for them. */
export interface PayloadIssue {
  /** `'customer.name'`; empty for the payload itself. */
  readonly path: string;
  readonly message: string;
}

interface WebhookErrorOptions extends ErrorOptions {
  eventName?: string | undefined;
  issues?: readonly PayloadIssue[] | undefined;
  /**
   * The page that the message links to; for configuration errors, by default, the section of the code.
   * @see docsUrl
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
    const isConfiguration = Object.hasOwn(CONFIGURATION_ERRORS, code);
    const docs = options.docs ?? (isConfiguration ? docsUrl(`outcomes.md#${code}`) : undefined);
    super(docs === undefined ? message : `${message} See ${docs}`, options);
    this.code = code;
    if (options.eventName !== undefined) this.eventName = options.eventName;
    if (options.issues !== undefined) this.issues = options.issues;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** Where `docs/` is published as a site. Only the README names this address as well. */
const SITE = 'https://call-webhooks.github.io/call-webhooks/';

/**
 * The absolute URL of a page of the documentation, for log lines and errors: the pages are not part
 * of the published packages.
 * @param page a path below `docs/`, with an anchor if need be
 * @example docsUrl('outcomes.md#handler-failed')
 */
export const docsUrl = (page: string): string => SITE + page.replace(/\.md(?=#|$)/, '.html');
