import type { Context, MiddlewareHandler, Next } from 'hono';
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
import { webHandler } from '@call-webhooks/core/web';

export * from '@call-webhooks/core';

/** The options of a receiver, and its path. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = ReceiverOptions<Extra, Custom, S> & {
  /**
   * The whole path, for `app.use`: other requests go on to the next handler. A trailing slash makes no
   * difference, also in strict mode. Without it, every request that gets here is for the receiver.
   */
  path?: string | undefined;
};

/** A handler and middleware for Hono, with its receiver. */
export interface HonoHandler {
  (context: Context, next: Next): ReturnType<MiddlewareHandler>;
  readonly receiver: Receiver;
}

/**
 * Creates a middleware for Hono that receives call webhooks at a path.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * app.use(callWebhooks({ path: '/hook', secret, on: { 'call:completed': async (event) => { … } } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>({ path, ...options }: CallWebhooksOptions<Extra, Custom, S>): HonoHandler {
  checkOptions('callWebhooks', { path: option.optional(option.path()) }, { path });
  const receiver = createReceiver<Extra, Custom, S>(options);
  const handler = webHandler(receiver);
  const ownPath = path === undefined ? undefined : withoutSlash(path);
  const handle = (context: Context, next: Next) => {
    checkArgument(context);
    if (ownPath !== undefined && withoutSlash(context.req.path) !== ownPath) return next();
    return handler(context.req.raw, { waitUntil: waitUntilOf(context) });
  };
  return Object.assign(handle, { receiver });
}

const withoutSlash = (path: string) => path.replace(/\/+$/, '');

/** The platform's `waitUntil`. In Node there is none, and Hono then throws. */
function waitUntilOf(context: Context): ((work: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = context;
    return (work) => executionCtx.waitUntil(work);
  } catch {
    return undefined;
  }
}

/** @throws WebhookError `invalid-options` for anything but Hono's context */
function checkArgument(context: { req?: { raw?: Partial<Request> } } | undefined): void {
  if (typeof context?.req?.raw?.headers?.get === 'function') return;
  throw new WebhookError(
    'invalid-options',
    "This handler takes Hono's context: app.use(callWebhooks({ path: '/hook', … })). For fetch's Request (Bun, Deno, Workers), use createWebHandler of @call-webhooks/core/web. For the request and response of node:http, use createNodeHandler of @call-webhooks/core/node.",
  );
}
