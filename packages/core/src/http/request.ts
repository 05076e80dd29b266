import { WebhookError } from '../errors.ts';
import { describeError } from '../report/error-text.ts';

/** Request headers: fetch's `Headers`, or a plain record as Node has it. */
export type HeadersLike =
  Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Refuses a request that cannot be a delivery, before its body is read.
 * @param bodyLimit bytes
 * @throws WebhookError `method-not-allowed`, `unsupported-encoding`, `body-too-large`
 */
export function checkRequest(
  { method, headers }: { method?: string | undefined; headers: HeadersLike },
  bodyLimit: number,
): void {
  if (method !== undefined && method !== 'POST') {
    throw new WebhookError('method-not-allowed', 'Deliveries are sent with POST.');
  }
  const encoding = headerValue(headers, 'content-encoding');
  if (encoding && String(encoding).toLowerCase() !== 'identity')
    throw new WebhookError(
      'unsupported-encoding',
      'The body is compressed. Compressed bodies are not supported.',
    );
  // The HTTP parser has checked the number. Without the header it is NaN, which compares as false.
  if (Number(headerValue(headers, 'content-length')) > bodyLimit) throw tooLarge(bodyLimit);
}

/**
 * The error of a body that was cut off on its way to the receiver, or `undefined` if it was not.
 * @param headers whose `content-length` counts the bytes that were sent
 */
export function truncated(headers: HeadersLike, body: Uint8Array): WebhookError | undefined {
  const sent = Number(headerValue(headers, 'content-length'));
  if (!(sent > body.length)) return undefined; // without the header it is NaN
  return incomplete(
    `content-length is ${String(sent)} bytes, but only ${String(body.length)} arrived. Something in front of the receiver truncates bodies, as Next's proxy.ts does beyond its limit`,
  );
}

/**
 * The value of one header. In a plain record the name may have any case.
 * @param name in lower case
 */
export function headerValue(
  headers: HeadersLike,
  name: string,
): string | readonly string[] | null | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name);
  const record = headers as Record<string, string | readonly string[] | undefined>;
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (value !== undefined) return value;
  for (const key in record) {
    // The length first: hardly any other name has it, and comparing it is cheaper than lowering.
    if (key.length === name.length && key.toLowerCase() === name && Object.hasOwn(record, key))
      return record[key];
  }
  return undefined;
}

/** The limits within which an adapter reads the body. */
export interface BodyLimits {
  /** The maximum size of the body, in bytes. */
  readonly bodyLimit: number;
  /** The maximum time for the whole body to arrive, in milliseconds. */
  readonly bodyTimeout: number;
}

/**
 * How an adapter reads the raw body. The receiver calls this function after it has checked the method
 * and the encoding. Its promise rejects with a `WebhookError`: `body-too-large`, `body-timeout` or
 * `body-already-parsed`.
 */
export type BodyReader = (limits: BodyLimits) => Promise<Uint8Array>;

/**
 * Whether a value is bytes, including bytes of another realm (`vm`, jsdom, Jest), which `instanceof`
 * would not know.
 */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]';

const { Buffer } = globalThis as { Buffer?: { from(bytes: Uint8Array): Uint8Array } };

/** A private copy. A small Node `Buffer` is allocated faster than other bytes. */
export const ownBytes = (bytes: Uint8Array): Uint8Array =>
  Buffer ? Buffer.from(bytes) : new Uint8Array(bytes);

/**
 * What an adapter read, as bytes within their limit: a copy, so that the bytes that are verified are
 * those that are parsed and kept, whoever else has the buffer.
 * @throws WebhookError `body-too-large`, `body-already-parsed`: only bytes can be verified
 */
export function checkBody(body: unknown, bodyLimit: number): Uint8Array {
  if (!isBytes(body))
    throw alreadyParsed('Pass the raw bytes of the request as they were received.');
  if (body.length > bodyLimit) throw tooLarge(bodyLimit);
  return ownBytes(body);
}

/** How long a client may continue to send a body after the response, in milliseconds. */
export const LINGER_MS = 2_000;

/** The signature covers the raw bytes, which can't be restored from a parsed body. */
export const alreadyParsed = (fix: string) =>
  new WebhookError(
    'body-already-parsed',
    `The request body was already parsed, so its signature can't be checked. ${fix}`,
  );

export const tooLarge = (limit: number) =>
  new WebhookError('body-too-large', `The body is larger than bodyLimit, ${String(limit)} bytes.`);

export const incomplete = (reason: string) =>
  new WebhookError('body-timeout', `The body did not arrive completely: ${reason}.`);

/** What a reader failed with. A host may have a limit of its own, such as SvelteKit's 512 KiB. */
export function unreadable(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  if (!isTooLarge(error)) return incomplete(describeError(error));
  return new WebhookError(
    'body-too-large',
    `The hosting platform rejects bodies of this size, whatever bodyLimit is: ${describeError(error)}.`,
  );
}

/** Never throws, whatever was thrown. */
function isTooLarge(error: unknown): boolean {
  try {
    const { status, statusCode } = Object(error) as { status?: unknown; statusCode?: unknown };
    return status === 413 || statusCode === 413;
  } catch {
    return false;
  }
}

export const bodyTimedOut = (timeout: number) =>
  incomplete(`bodyTimeout (${String(timeout)} ms) passed first`);

/**
 * What the option `tenant` sees of a request. It is the same in every framework. Nothing of it is
 * verified.
 */
export interface TenantRequest {
  /** The path as it was sent, percent-encoded and without the query, such as `'/hooks/acme'`. */
  readonly path: string;
  /** The query parameters of the URL. */
  readonly query: URLSearchParams;
  /** The `host` header in lower case, with its port if it has one; `''` if there is no such header. */
  readonly host: string;
  /** The headers, with lower-case names. Several values of one header are joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/** The parts of a request, read when they are asked for. */
export class RequestView implements TenantRequest {
  readonly #url: string;
  readonly #headers: HeadersLike;

  /** @param url as it was sent, with or without its origin */
  constructor(url: string, headers: HeadersLike) {
    this.#url = url;
    this.#headers = headers;
  }

  get path(): string {
    return this.#url.replace(ORIGIN, '').split(/[?#]/, 1)[0] || '/';
  }

  get query(): URLSearchParams {
    return new URLSearchParams(/\?([^#]*)/.exec(this.#url)?.[1] ?? '');
  }

  get host(): string {
    // HTTP/2 has a pseudo-header in its place, and fetch's Request may have only the URL.
    const given =
      headerValue(this.#headers, 'host') ||
      (isHeaders(this.#headers) ? undefined : headerValue(this.#headers, ':authority')) ||
      ORIGIN.exec(this.#url)?.[1];
    return joined(given ?? '').toLowerCase();
  }

  get headers(): Record<string, string | undefined> {
    const all = isHeaders(this.#headers) ? [...this.#headers] : Object.entries(this.#headers);
    return Object.fromEntries(
      all.map(([name, value]) => [name.toLowerCase(), value === undefined ? value : joined(value)]),
    );
  }
}

const isHeaders = (headers: HeadersLike): headers is Headers => typeof headers.get === 'function';

const joined = (value: string | readonly string[]): string =>
  typeof value === 'string' ? value : value.join(', ');
