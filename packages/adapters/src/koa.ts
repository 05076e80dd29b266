import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createReceiver,
  type HealthSource,
  type Receiver,
  type Store,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import {
  isBytes,
  isNodeResponse,
  read,
  readiness,
  withoutOptions,
  wrongArgument,
} from '@call-webhooks/core/internal';
import { discardRestAfter, readRawBody } from '@call-webhooks/core/node';
import { pathFilter, type CallWebhooksOptions } from './path.ts';

export * from '@call-webhooks/core';
export type { CallWebhooksOptions };

const FIX =
  'Mount callWebhooks before the body parser. It also works after koa-bodyparser and @koa/bodyparser, which keep the body in ctx.request.rawBody.';

const TAKES = "This middleware takes Koa's context: app.use(callWebhooks({ path: '/hook', … })).";

/** The part of Koa's context that is used. */
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

/** A middleware for Koa, together with its receiver. */
export interface KoaMiddleware {
  (context: KoaContext, next: () => Promise<unknown>): Promise<unknown>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates a Koa middleware that receives call webhooks at a path. Call `close()` of its `receiver` at
 * shutdown, for example with `closeOnSignal`.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * app.use(callWebhooks({ path: '/hook', secret, on: { 'call:completed': async (event) => { … } } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: CallWebhooksOptions<Extra, Custom, S>): KoaMiddleware {
  const isOwn = pathFilter(options.path);
  const receiver = createReceiver<Extra, Custom, S>(withoutOptions(options, 'path'));

  async function respond(context: KoaContext): Promise<void> {
    const { req, res } = context;
    const { status, headers, body } = await receiver.receive({
      method: req.method,
      url: context.originalUrl,
      headers: req.headers,
      body: (limits) => keptBody(context) ?? readRawBody(req, limits, FIX),
    });
    discardRestAfter(res, req);
    context.status = status;
    context.set(headers);
    context.body = body;
  }

  const handle = (context: KoaContext, next: () => Promise<unknown>) => {
    if (!isKoaContext(context)) throw wrongArgument(TAKES, context);
    return isOwn(context.path) ? respond(context) : next();
  };
  return Object.assign(handle, { receiver });
}

/**
 * Creates a Koa middleware for readiness probes: it returns 200 if the receiver would accept a delivery
 * now, and 503 otherwise. It answers every request that it gets, so mount it on a route.
 * @param receiver a receiver, or the middleware that has one
 * @throws WebhookError `invalid-options` if it is neither
 * @example
 * router.get('/ready', ready(hook)); // @koa/router
 */
export function ready(
  receiver: HealthSource,
): (context: Pick<KoaContext, 'status' | 'body' | 'set'>) => Promise<void> {
  const respond = readiness(receiver);
  return async (context) => {
    const answer = await respond();
    context.status = answer.status;
    context.set(answer.headers);
    context.body = answer.body;
  };
}

const isKoaContext = (context: unknown) =>
  isNodeResponse(read(context, 'res')) && typeof read(context, 'set') === 'function';

/**
 * What a body parser kept: the bytes, or the text that it decoded as UTF-8. They are what was sent, or
 * else their signature does not match.
 */
function keptBody({ request }: KoaContext): Promise<Uint8Array> | undefined {
  const { rawBody } = request as { rawBody?: unknown };
  if (isBytes(rawBody)) return Promise.resolve(rawBody);
  return typeof rawBody === 'string' ? Promise.resolve(Buffer.from(rawBody)) : undefined;
}
