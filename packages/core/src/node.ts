import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';
import type { ExtraEvents } from './handlers.ts';
import { readRawBody } from './node-body.ts';
import type { ReceiverOptions } from './options.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import type { StandardSchema } from './standard-schema.ts';

export { keepRawBody, readRawBody } from './node-body.ts';

/** A handler for `node:http`, with the receiver that it stands on. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  readonly receiver: Receiver;
}

/**
 * A receiver for bare `node:http`, and for what is close to it: Koa, Nest.
 * @throws WebhookError `invalid-options` and `invalid-secret`
 */
export function createNodeHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): NodeHandler {
  return nodeHandler(createReceiver(options));
}

/**
 * The same over a receiver that was made already.
 * @param fix what to do about a body that somebody else parsed; it goes into the log
 */
export function nodeHandler(receiver: Receiver, fix?: string): NodeHandler {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = request;
    const answer = await receiver.receive({
      method,
      headers,
      body: (limits) => readRawBody(request, limits, fix),
    });
    writeAnswer(request, response, answer);
  };
  return Object.assign(handle, { receiver });
}

/** How long a client may go on sending a body that we no longer want; milliseconds. */
const LINGER_MS = 2_000;

/** Writes an answer. A client that is still sending gets the time to see it. */
export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
  if (request.complete) return;
  // To close at once would reset the connection, and the client might never read the answer.
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  timer.unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
}
