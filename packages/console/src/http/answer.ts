import { PAGE_FILES } from '../page-files.generated.ts';

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

const fileAnswer = (type: string, body: string, cache: keyof typeof CACHE_CONTROL): Answer => ({
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
  body: JSON.stringify(value, visible),
});

/** What hides itself or turns the direction of the text around it: no id, name or error may have a line break. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/**
 * A text of an answer, in which everything can be seen: others chose ids, names and error texts, and could
 * make one look like another, or like ours. The text of a body stays as it is, and the page escapes it.
 */
function visible(this: unknown, name: string, value: unknown): unknown {
  if (typeof value !== 'string' || (name === 'text' && 'masked' in (this as object))) return value;
  return value.replace(HIDDEN, unicodeEscape);
}

/**
 * The status of each error. There is no 404, 410 and 3xx among them: a rule that points here by mistake
 * must not be paused.
 */
const STATUS = {
  /** 401 where `authorize` asks for credentials. */
  unauthorized: 403,
  /** The console or this person may only read. */
  'read-only': 403,
  /** The request does not come from the console's page. */
  'cross-origin': 403,
  'unknown-path': 400,
  'method-not-allowed': 405,
  'invalid-request': 400,
  'body-too-large': 413,
  /** A POST that is not JSON. */
  'unsupported-type': 415,
  /** A redrive or a reconcile, here or in another process. */
  'already-running': 409,
  'unknown-letter': 422,
  /** Created without `deadLetters` or `reconcile`, or the store has no log. */
  'not-configured': 422,
  'store-unavailable': 503,
  /** `authorize` did not settle in time. */
  unavailable: 503,
  internal: 500,
};

/** An error that is answered. Its message must hold nothing of the request. */
export class RequestError extends Error {
  readonly code: keyof typeof STATUS;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;

  constructor(
    code: keyof typeof STATUS,
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
    const error = { code: this.code, message: this.message };
    return jsonAnswer({ error }, this.status, this.headers);
  }
}

export const invalid = (problem: string) =>
  new RequestError('invalid-request', `The request is invalid: ${problem}.`);

/**
 * The page. Its files and the API are relative to it, so that it works behind a proxy that changes paths.
 * @param documentPath the path in the browser's address
 */
export function pageAnswer(documentPath: string): Answer {
  const file = PAGE_FILES.get('index.html');
  if (!file)
    throw new RequestError(
      'internal',
      'The console was built without its page. Reinstall @call-webhooks/console.',
    );
  return fileAnswer(
    file.type,
    file.text.replace('<head>', () => headFor(documentPath)),
    'never',
  );
}

/** @returns `undefined` if there is no such file */
export function assetAnswer(path: string): Answer | undefined {
  const file = path.startsWith('/assets/') ? PAGE_FILES.get(path.slice(1)) : undefined;
  return file && fileAnswer(file.type, file.text, 'forever');
}

/**
 * What a person sees who opens the page and may not.
 * @param signIn where to sign in
 */
export function refusedAnswer({ status, headers, message }: RequestError, signIn?: string): Answer {
  const link = signIn === undefined ? '' : `<p><a href="${escaped(signIn)}">Sign in</a></p>`;
  const page = fileAnswer(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Call webhooks: console</title></head><body><main><h1>Call webhooks: console</h1><p>${message}</p>${link}</main></body></html>`,
    'never',
  );
  return { ...page, status, headers: { ...page.headers, ...headers } };
}

/** Without a slash at the end of the address, relative URLs would lead beside the console. */
function headFor(documentPath: string): string {
  const segment = documentPath.slice(documentPath.lastIndexOf('/') + 1);
  return segment === '' ? '<head>' : `<head><base href="./${escaped(segment)}/">`;
}

/** As in JSON: `\\u202e`. */
const unicodeEscape = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

const escaped = (text: string) =>
  text.replace(/[^\w.~%/:?=-]/g, (character) => `&#${String(character.codePointAt(0))};`);
