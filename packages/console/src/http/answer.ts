import type { ApiError, ApiErrorCode } from '../api-types.ts';

/** The response to one request, ready to be written. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What keeps the page and its data to itself. On every answer. */
const SECURITY_HEADERS = {
  // Nothing inline, nothing from other hosts, no frame around it, and no text that is parsed as HTML.
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/** How long browsers may keep what they were sent. */
const CACHE_CONTROL = {
  never: 'no-store',
  /** The name of such a file changes with its text. Only for who is authorised, so for no proxy. */
  forever: 'private, max-age=31536000, immutable',
};

export const fileAnswer = (
  type: string,
  body: string,
  cache: keyof typeof CACHE_CONTROL,
): Answer => ({
  status: 200,
  headers: {
    ...SECURITY_HEADERS,
    'content-type': type,
    'cache-control': CACHE_CONTROL[cache],
    vary: 'authorization, cookie',
  },
  body,
});

export const jsonAnswer = (
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  headers: {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': CACHE_CONTROL.never,
    ...headers,
  },
  body: JSON.stringify(value),
});

/** There is no 404, 410 and 3xx among them: a rule that points here by mistake must not be paused. */
const STATUS: Record<ApiErrorCode, number> = {
  unauthorized: 403,
  'read-only': 403,
  'cross-origin': 403,
  'unknown-path': 400,
  'method-not-allowed': 405,
  'invalid-request': 400,
  'body-too-large': 413,
  'unsupported-type': 415,
  'already-running': 409,
  'unknown-letter': 422,
  'not-configured': 422,
  'store-unavailable': 503,
  unavailable: 503,
  internal: 500,
};

/** An error that is answered. Its message must hold nothing of the request. */
export class RequestError extends Error {
  readonly code: ApiErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;

  constructor(
    code: ApiErrorCode,
    message: string,
    {
      status = STATUS[code],
      headers = {},
    }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }

  get answer(): Answer {
    const body: ApiError = { error: { code: this.code, message: this.message } };
    return jsonAnswer(body, this.status, this.headers);
  }
}
