import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  checkOptions,
  createReceiver,
  option,
  WebhookError,
  type ExtraEvents,
  type Receiver,
  type ReceiverOptions,
  type StandardSchema,
  type Store,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core';
import { discardRest, readRawBody } from '@call-webhooks/core/node';

export * from '@call-webhooks/core';

const FIX =
  'Mount callWebhooks before the body parser. It also works after koa-bodyparser and @koa/bodyparser, which keep the body in ctx.request.rawBody.';

/** The options of a receiver, and its path. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = ReceiverOptions<Extra, Custom, S> & {
  /**
   * The path, for `app.use`: other requests go on to the next middleware. A trailing slash makes no
   * difference. Without it, every request that gets here is for the receiver.
   */
  path?: string | undefined;
};

/** The part that we use of Koa's context. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly originalUrl: string;
  readonly request: object;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** A middleware for Koa, with its receiver. */
export interface KoaMiddleware {
  (context: KoaContext, next: () => Promise<unknown>): Promise<unknown>;
  readonly receiver: Receiver;
}

/**
 * Creates a middleware for Koa that receives call webhooks at a path. Call `close()` of its
 * `receiver` at shutdown.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * app.use(callWebhooks({ path: '/hook', secret, on: { 'call:completed': async (event) => { … } } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>({ path, ...options }: CallWebhooksOptions<Extra, Custom, S>): KoaMiddleware {
  checkOptions('callWebhooks', { path: option.optional(option.path()) }, { path });
  const receiver = createReceiver<Extra, Custom, S>(options);
  const ownPath = path === undefined ? undefined : withoutSlash(path);

  async function respond(context: KoaContext): Promise<void> {
    const { req, res } = context;
    const { status, headers, body } = await receiver.receive({
      method: req.method,
      url: context.originalUrl,
      headers: req.headers,
      body: (limits) => keptText(context) ?? readRawBody(req, limits, FIX),
    });
    if (!req.complete) res.once('finish', () => discardRest(req));
    context.status = status;
    context.set(headers);
    context.body = body;
  }

  const handle = (context: KoaContext, next: () => Promise<unknown>) => {
    checkArgument(context);
    const isOther = ownPath !== undefined && withoutSlash(context.path) !== ownPath;
    return isOther ? next() : respond(context);
  };
  return Object.assign(handle, { receiver });
}

const withoutSlash = (path: string) => path.replace(/\/+$/, '');

/**
 * The text that a body parser decoded as UTF-8, as bytes. They are the sent ones, or else their
 * signature does not match.
 */
function keptText({ request }: KoaContext): Promise<Uint8Array> | undefined {
  const { rawBody } = request as { rawBody?: unknown };
  return typeof rawBody === 'string' ? Promise.resolve(Buffer.from(rawBody)) : undefined;
}

/** @throws WebhookError `invalid-options` for anything but Koa's context */
function checkArgument(context: Partial<KoaContext> | undefined): void {
  if (typeof context?.res?.writeHead === 'function' && typeof context.set === 'function') return;
  throw new WebhookError(
    'invalid-options',
    "This middleware takes Koa's context: app.use(callWebhooks({ path: '/hook', … })). For Express, use @call-webhooks/express. For the request and response of node:http, use createNodeHandler of @call-webhooks/core/node.",
  );
}
