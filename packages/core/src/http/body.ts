import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../redact/error-text.ts';

/** The limits for reading a body. */
export interface BodyLimits {
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  /** How long reading may take, in milliseconds. */
  readonly bodyTimeout: number;
}

/**
 * How an adapter reads the raw body. The receiver calls it once the method and the encoding are
 * checked. It rejects with a `WebhookError`: `body-too-large`, `body-timeout` or
 * `body-already-parsed`.
 */
export type BodyReader = (limits: BodyLimits) => Promise<Uint8Array>;

/**
 * The whole raw body, from bytes or from an adapter's reader.
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export async function readBody(
  body: Uint8Array | BodyReader,
  limits: BodyLimits,
): Promise<Uint8Array> {
  let given: unknown = body;
  try {
    if (typeof body === 'function') given = await body(limits);
  } catch (error) {
    throw error instanceof WebhookError ? error : incomplete(describeError(error));
  }
  const bytes = bodyBytes(given);
  if (bytes.length > limits.bodyLimit) throw tooLarge(limits.bodyLimit);
  return bytes;
}

/** @throws WebhookError `body-already-parsed` for anything but bytes: only bytes can be verified */
export function bodyBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  throw alreadyParsed('Pass the raw bytes of the request as they were received.');
}

/**
 * The raw body of a fetch `Request`, within its limits.
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export async function readWebBody(
  request: Request,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked)
    throw alreadyParsed('Call the handler before request.json(), request.text() and the like.');
  if (!request.body) return new Uint8Array();

  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const state = { late: false };
  const timer = setTimeout(() => {
    state.late = true;
    void reader.cancel().catch(() => undefined);
  }, bodyTimeout);
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
      if (state.late) throw bodyTimedOut(bodyTimeout);
      if (done) break;
      if (value) chunks.push(value);
      length += value?.length ?? 0;
      if (length > bodyLimit) throw tooLarge(bodyLimit);
    }
  } finally {
    clearTimeout(timer);
    if (length > bodyLimit) void reader.cancel().catch(() => undefined);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : joined(chunks, length);
}

function joined(chunks: Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

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

export const bodyTimedOut = (timeout: number) =>
  incomplete(`bodyTimeout, ${String(timeout)} ms, is over`);
