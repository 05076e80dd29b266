import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExtraEvents } from './events/handlers.ts';
import type { StandardSchema } from './events/schema.ts';
import { discardRest, readRawBody } from './http/node-body.ts';
import type { BodyLimits } from './http/request.ts';
import { isNodeRequest, isNodeResponse, wrongArgument } from './http/wrong-argument.ts';
import type { ReceiverOptions } from './options.ts';
import type { ReceiverResponse } from './outcomes.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import { requestLogger } from './report/logger.ts';
import type { Store, StoreWithoutCompleteIn } from './store/store.ts';

export { discardRest, discardRestAfter, keepRawBody, readRawBody } from './http/node-body.ts';

/** A handler for `node:http`, together with its receiver. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The receiver of this handler. */
  readonly receiver: Receiver;
}

/** What Express and loggers add. Express removes the path at which a router is mounted from `url`. */
type MountedRequest = IncomingMessage & { originalUrl?: string; log?: unknown };

/**
 * Creates a handler for `node:http`, and for frameworks that give access to Node's request and
 * response, such as Koa.
 * @throws WebhookError `invalid-options` or `invalid-secret`
 * @example
 * const hook = createNodeHandler({ secret, on: { 'call:completed': async (event) => { … } } });
 * createServer((request, response) => void hook(request, response)).listen(3000);
 */
export function createNodeHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): NodeHandler {
  return nodeHandler(createReceiver(options));
}

/**
 * Creates a handler for `node:http` from a receiver that you created.
 * @param fix what to do if the body has already been parsed; it is added to the error message
 */
export function nodeHandler(receiver: Receiver, fix?: string): NodeHandler {
  // It throws synchronously: Express 4 would not see a rejection.
  const handle = (request: MountedRequest, response: ServerResponse) => {
    if (!isNodeRequest(request) || !isNodeResponse(response))
      throw wrongArgument('This handler takes the request and response of node:http.', request);
    const { method, url, originalUrl = url, headers } = request;
    const delivery = {
      method,
      url: originalUrl,
      headers,
      body: (limits: BodyLimits) => readRawBody(request, limits, fix),
      log: requestLogger(request.log),
    };
    return receiver.receive(delivery).then((result) => writeResponse(request, response, result));
  };
  return Object.assign(handle, { receiver });
}

function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ReceiverResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, headers);
  response.end(body);
  discardRest(request);
}
