import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExtraEvents } from './dispatch/handlers.ts';
import type { StandardSchema } from './events/schema.ts';
import { discardRest, readRawBody } from './http/node-body.ts';
import type { ReceiverResponse } from './outcome/response.ts';
import type { ReceiverOptions } from './receiver/options.ts';
import { createReceiver, type Receiver } from './receiver/receiver.ts';
import type { Logger } from './reporting/logger.ts';

export { discardRest, keepRawBody, readRawBody } from './http/node-body.ts';

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
      log: requestLogger(request),
    });
    writeAnswer(request, response, answer);
  };
  return Object.assign(handle, { receiver });
}

/** What pino-http and the like put on a request. */
function requestLogger(request: IncomingMessage & { log?: Partial<Logger> }): Logger | undefined {
  const { log } = request;
  return typeof log?.warn === 'function' && typeof log.error === 'function'
    ? (log as Logger)
    : undefined;
}

function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ReceiverResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
  discardRest(request);
}
