import type { OutcomeCode } from './outcome-code.ts';

/** Codes of `WebhookError`: those of the answer table, and two for wrong configuration. */
export type WebhookErrorCode = OutcomeCode | 'invalid-secret' | 'invalid-options';

const BRAND = Symbol.for('@call-webhooks/WebhookError');

/**
 * The one error class of this package. `code` is stable and has a section in `docs/answers.md`;
 * the message is for people and may change. Neither holds a secret or anything of a body.
 *
 * `instanceof` works across copies of the package (ESM and CJS, two versions).
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  readonly [BRAND] = true;

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
