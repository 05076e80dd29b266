import { WebhookError } from '../errors.ts';
import { describeError } from '../report/error-text.ts';

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
 * What an adapter read, as bytes within their limit.
 * @throws WebhookError `body-too-large`, `body-already-parsed`
 */
export function checkBody(body: unknown, { bodyLimit }: BodyLimits): Uint8Array {
  const bytes = bodyBytes(body);
  if (bytes.length > bodyLimit) throw tooLarge(bodyLimit);
  return bytes;
}

/** What a reader failed with, as an error of ours. */
export const readFailure = (error: unknown): WebhookError =>
  error instanceof WebhookError ? error : unreadable(error);

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

  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(bodyTimedOut(bodyTimeout));
    }, bodyTimeout);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout]);
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length > bodyLimit) throw tooLarge(bodyLimit);
    }
  } catch (error) {
    cancelLater(reader);
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : joined(chunks, length);
}

/** How long a client may continue to send a body after the response, in milliseconds. */
export const LINGER_MS = 2_000;

/**
 * Cancels the rest of a body, some time after the response. To cancel it at once would close the
 * connection of some hosts (SvelteKit, React Router), and the client would never see the response.
 */
function cancelLater(reader: ReadableStreamDefaultReader): void {
  const timer = setTimeout(() => {
    void reader.cancel().catch(() => undefined);
  }, LINGER_MS);
  // It must not keep the process alive. (In browsers it is a number.)
  if (typeof timer === 'object') timer.unref();
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

/** What a stream failed with. A host may have a limit of its own, such as SvelteKit's 512 KiB. */
function unreadable(error: unknown): WebhookError {
  const { status, statusCode } = Object(error) as { status?: unknown; statusCode?: unknown };
  if (status !== 413 && statusCode !== 413) return incomplete(describeError(error));
  return new WebhookError(
    'body-too-large',
    `The host refuses bodies of this size, whatever bodyLimit is: ${describeError(error)}.`,
  );
}

export const bodyTimedOut = (timeout: number) =>
  incomplete(`bodyTimeout, ${String(timeout)} ms, is over`);
