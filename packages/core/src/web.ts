import type { ExtraEvents } from './events/handlers.ts';
import type { StandardSchema } from './events/schema.ts';
import { readWebBody } from './http/web-body.ts';
import { isFetchRequest, read, wrongArgument } from './http/wrong-argument.ts';
import type { ReceiverOptions } from './options.ts';
import type { ReceiverRequest } from './receive.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import type { Logger } from './report/logger.ts';
import type { Store, StoreWithoutCompleteIn } from './store/store.ts';

/** A handler for servers that use fetch's `Request` and `Response`, together with its receiver. */
export interface WebHandler {
  /**
   * @param extras the logger of this request, and a `waitUntil` that keeps a serverless function alive.
   *   Hosts may pass any other object here: only a valid `log` and a valid `waitUntil` are used.
   */
  (request: Request, extras?: Pick<ReceiverRequest, 'log' | 'waitUntil'>): Promise<Response>;
  /** The receiver of this handler. */
  readonly receiver: Receiver;
}

/**
 * Creates a handler for servers that use fetch's `Request` and `Response`: Hono, SvelteKit, Remix, Bun,
 * Deno, Workers.
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

/**
 * Creates a handler for servers that use fetch's `Request` and `Response` from a receiver that you
 * created.
 */
export function webHandler(receiver: Receiver): WebHandler {
  const respond = async (request: Request, extras: unknown) => {
    const { method, url, headers } = request;
    const response = await receiver.receive({
      method,
      url,
      headers,
      body: (limits) => readWebBody(request, limits),
      log: loggerOf(extras),
      waitUntil: waitUntilOf(extras),
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  };
  // It throws synchronously: Express 4 would not see a rejection. The default makes its `length` 1, by
  // which @call-webhooks/testing can tell it from a handler for node:http.
  return Object.assign(
    (request: Request, extras: Pick<ReceiverRequest, 'log' | 'waitUntil'> = {}) => {
      if (!isFetchRequest(request))
        throw wrongArgument("This handler takes fetch's Request.", request);
      return respond(request, extras);
    },
    { receiver },
  );
}

// Hosts call a fetch handler with their own second argument: the bindings of a Worker, the context of
// Netlify or Vercel. Properties that are not meant for the receiver may have any name.

function loggerOf(extras: unknown): Logger | undefined {
  const log = read(extras, 'log');
  const isLogger = ['warn', 'error'].every((name) => typeof read(log, name) === 'function');
  return isLogger ? (log as Logger) : undefined;
}

/** `waitUntil` of a context, which has to be called as its method. */
export function waitUntilOf(context: unknown): ((work: Promise<unknown>) => void) | undefined {
  const waitUntil = read(context, 'waitUntil');
  if (typeof waitUntil !== 'function') return undefined;
  return (work) => void Reflect.apply(waitUntil, context, [work]);
}
