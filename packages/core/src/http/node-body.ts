import getRawBody from 'raw-body';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import timers from 'node:timers';
import { WebhookError } from '../errors.ts';
import { describeError } from '../report/error-text.ts';
import { Deadlines } from '../time.ts';
import {
  alreadyParsed,
  bodyTimedOut,
  incomplete,
  isBytes,
  LINGER_MS,
  tooLarge,
  type BodyLimits,
} from './request.ts';

const KEPT = Symbol.for('@call-webhooks/raw-body');

/** What frameworks and hosts add to a request. */
type Request = IncomingMessage & { body?: unknown; rawBody?: unknown; [KEPT]?: Uint8Array };

/** One timer for all bodies that are being read: a timer for each would cost more than the reading. */
const deadlines = new Deadlines();

/**
 * Keeps the raw bytes of a body that a parser parses: `express.json({ verify: keepRawBody })`.
 * The parameters are those of body-parser's `verify` hook.
 */
export function keepRawBody(request: IncomingMessage, _response: unknown, body: Uint8Array): void {
  (request as Request)[KEPT] = body;
}

/**
 * The raw body of a Node request.
 *
 * Looked for in this order: the bytes that `keepRawBody` kept; a `request.body` of bytes
 * (`express.raw`); a `request.rawBody` of bytes (Firebase, Google Cloud Functions); the stream, if it
 * has not been read. A parsed body is never turned back into text.
 * @param fix what to do when the body was already parsed; it is added to the error
 * @param stream the body, if something has put another stream in the place of the request's own
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export function readRawBody(
  request: IncomingMessage,
  limits: BodyLimits,
  fix = 'Mount the receiver before any body parser.',
  stream: Readable = request,
): Promise<Uint8Array> {
  const { [KEPT]: kept, rawBody } = request as Request;
  for (const bytes of [kept, bodyOf(request), rawBody])
    if (isBytes(bytes)) return Promise.resolve(bytes);
  if (stream.readableDidRead || stream.readableEncoding !== null)
    return Promise.reject(alreadyParsed(fix));
  // The header counts the bytes of the request's own stream.
  const length = stream === request ? (request.headers['content-length'] ?? null) : null;
  const body = readStream(stream, length, limits);
  return isParsed(bodyOf(request)) ? unlessEmpty(body, fix) : body;
}

/**
 * Hosts that parse bodies themselves may pass on a request whose stream has nothing in it, or never ends.
 */
async function unlessEmpty(body: Promise<Uint8Array>, fix: string): Promise<Uint8Array> {
  const bytes = await body.catch((error: unknown) => {
    if (error instanceof WebhookError && error.code === 'body-timeout') throw alreadyParsed(fix);
    throw error;
  });
  if (bytes.length === 0) throw alreadyParsed(fix);
  return bytes;
}

/** Whether a body is there in another form. Express 4 sets `{}` where there is none. */
function isParsed(body: unknown): boolean {
  if (body === undefined || body === null || body === '') return false;
  return typeof body !== 'object' || Object.keys(body).length > 0;
}

/** Vercel's helpers parse the body when it is asked for, and throw if it is no JSON. */
function bodyOf(request: Request): unknown {
  try {
    return request.body;
  } catch {
    return undefined;
  }
}

function readStream(
  stream: Readable,
  length: string | null,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const deadline = deadlines.in(bodyTimeout, () => reject(bodyTimedOut(bodyTimeout)));
    const options = { limit: bodyLimit, length };
    // The callback form: the promise form would add a promise for each body.
    getRawBody(stream, options, (error: getRawBody.RawBodyError | null, body: Uint8Array) => {
      deadline.cancel();
      if (error === null) resolveLater(resolve, body);
      else reject(readError(error, bodyLimit));
    });
  });
}

/** Kept here because the mocked timers of a user's tests replace the global one, and in CommonJS that of the module. */
const { setImmediate: onImmediate } = timers;

/** More bodies do not wait: a flood of pipelined requests is answered as fast as it is read. */
const MAX_WAITING = 100;
let waiting = 0;

/**
 * Waits until Node has read the other sockets that are ready, so that deliveries run one after the
 * other: 15 % less CPU for each at 16 connections, 3 % at one (decision 18).
 */
function resolveLater(resolve: (body: Uint8Array) => void, body: Uint8Array): void {
  if (waiting === MAX_WAITING) {
    resolve(body);
    return;
  }
  waiting += 1;
  onImmediate(() => {
    waiting -= 1;
    resolve(body);
  });
}

/** raw-body's errors as ours: https://github.com/stream-utils/raw-body#errors */
function readError(error: getRawBody.RawBodyError, bodyLimit: number) {
  switch (error.type) {
    case 'entity.too.large':
      return tooLarge(bodyLimit);
    case 'request.aborted':
    case 'stream.not.readable': // of a request that has not been read: it was destroyed
      return incomplete('the connection was closed');
    default:
      return incomplete(describeError(error));
  }
}

/**
 * Lets a client that was answered early finish sending, for a while. Closing at once would reset the
 * connection, and the client might never see the response.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => cutOff(request), LINGER_MS);
  timer.unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
}

/** As `discardRest`, once a response that a framework writes is sent. */
export function discardRestAfter(response: ServerResponse, request: IncomingMessage): void {
  if (request.complete) return;
  // HTTP/2's response says so only when its stream has closed.
  const { stream = response } = response as { stream?: Writable };
  stream.once('finish', () => {
    discardRest(request);
  });
}

/** To destroy a request of HTTP/2 does not close its stream, and its socket is that of other requests. */
function cutOff(request: IncomingMessage & { stream?: { close(): void } }): void {
  if (request.stream) request.stream.close();
  else request.destroy();
}
