import type { IncomingMessage } from 'node:http';
import { alreadyParsed, type BodyLimits } from './body.ts';
import { readStream } from './node-stream.ts';

const KEPT = Symbol.for('@call-webhooks/raw-body');

/** What frameworks and hosts leave on a request. */
type Request = IncomingMessage & { body?: unknown; rawBody?: unknown; [KEPT]?: Uint8Array };

/**
 * Keeps the raw bytes next to what a parser makes of them: `express.json({ verify: keepRawBody })`.
 * Its parameters are those of body-parser's `verify` hook.
 */
export function keepRawBody(request: IncomingMessage, _response: unknown, body: Uint8Array): void {
  (request as Request)[KEPT] = body;
}

/**
 * The raw body of a Node request: bytes that were kept for us, or else the stream.
 *
 * Looked for in this order: what `keepRawBody` kept; a `request.body` of bytes (`express.raw`); a
 * `request.rawBody` of bytes (Firebase, Google Cloud Functions); the stream, if nobody has read it.
 * @throws WebhookError `body-too-large`, `body-timeout`, or `body-already-parsed` when only
 *   something parsed is left: that is never turned back into text
 */
export function readRawBody(
  request: IncomingMessage,
  limits: BodyLimits,
  fix = 'Mount the receiver before any body parser.',
): Promise<Uint8Array> {
  const { [KEPT]: kept, body, rawBody } = request as Request;
  for (const bytes of [kept, body, rawBody])
    if (bytes instanceof Uint8Array) return Promise.resolve(bytes);
  if (request.readableDidRead || request.readableEncoding !== null)
    return Promise.reject(alreadyParsed(fix));
  return readStream(request, limits);
}

/** How long a client may go on sending a body that nobody wants any more; milliseconds. */
const LINGER_MS = 2_000;

/**
 * Lets a client that was answered early finish sending, for a while. To close at once would reset
 * the connection, and the client might never see the answer.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  timer.unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
}
