import { WebhookError } from './errors.ts';
import type { ExtraEvents } from './events/handlers.ts';
import type { StandardSchema } from './events/schema.ts';
import { readWebBody } from './http/web-body.ts';
import type { ReceiverOptions } from './options.ts';
import type { ReceiverRequest } from './receive.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import type { Store, StoreWithoutCompleteIn } from './store/store.ts';

/** A handler for servers that use fetch's `Request` and `Response`, with its receiver. */
export interface WebHandler {
  (request: Request, extras?: Pick<ReceiverRequest, 'log' | 'waitUntil'>): Promise<Response>;
  readonly receiver: Receiver;
}

/**
 * Creates a handler for servers that use fetch's `Request` and `Response`: Hono, SvelteKit, Remix,
 * Bun, Deno, Workers.
 * @throws WebhookError `invalid-options` or `invalid-secret`
 * @example
 * const hook = createWebHandler({ secret, on: { 'call:completed': async (event) => { … } } });
 * app.post('/hook', (c) => hook(c.req.raw)); // Hono
 */
export function createWebHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): WebHandler {
  return webHandler(createReceiver(options));
}

/** The same for a receiver that you created. */
export function webHandler(receiver: Receiver): WebHandler {
  const respond = async (
    request: Request,
    extras: Pick<ReceiverRequest, 'log' | 'waitUntil'> | undefined,
  ) => {
    const { method, url, headers } = request;
    const response = await receiver.receive({
      method,
      url,
      headers,
      body: (limits) => readWebBody(request, limits),
      ...extras,
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  };
  // It throws synchronously: Express 4 would not see a rejection. The default makes its `length` 1, by
  // which @call-webhooks/testing can tell it from a handler for node:http.
  return Object.assign(
    (request: Request, extras: Pick<ReceiverRequest, 'log' | 'waitUntil'> = {}) => {
      checkArgument(request);
      return respond(request, extras);
    },
    { receiver },
  );
}

/** @throws WebhookError `invalid-options` for the object of a framework that is not fetch's `Request` */
function checkArgument(request: { headers?: { get?: unknown } } | undefined): void {
  if (typeof request?.headers?.get === 'function') return;
  throw new WebhookError(
    'invalid-options',
    "This handler takes fetch's Request. In Hono, pass c.req.raw. For the request and response of node:http (Express, Koa, Nest), use createNodeHandler of @call-webhooks/core/node.",
  );
}
