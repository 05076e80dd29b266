import {
  createReceiver,
  type Receiver,
  type Store,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { isFetchRequest, read, withoutOptions, wrongArgument } from '@call-webhooks/core/internal';
import { waitUntilOf, webHandler } from '@call-webhooks/core/web';
import { pathFilter, type CallWebhooksOptions } from './path.ts';

export * from '@call-webhooks/core';
export type { CallWebhooksOptions };

const TAKES = "This handler takes Hono's context: app.use(callWebhooks({ path: '/hook', … })).";

/** The part of Hono's context that is used. */
export interface HonoContext {
  readonly req: { readonly raw: Request; readonly path: string; readonly bodyCache?: object };
  readonly executionCtx: { waitUntil(work: Promise<unknown>): void };
}

/** A handler and middleware for Hono, together with its receiver. */
export interface HonoHandler {
  (context: HonoContext, next: () => Promise<void>): Promise<Response> | Promise<void>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates a Hono middleware that receives call webhooks at a path, even with strict routing. Pass the
 * whole path: a `basePath` is not added to it.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * app.use(callWebhooks({ path: '/hook', secret, on: { 'call:completed': async (event) => { … } } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: CallWebhooksOptions<Extra, Custom, S>): HonoHandler {
  const isOwn = pathFilter(options.path);
  const receiver = createReceiver<Extra, Custom, S>(withoutOptions(options, 'path'));
  const handler = webHandler(receiver);
  const respond = async (context: HonoContext) =>
    handler(
      await requestOf(context),
      // In Node there is no `executionCtx`, and Hono throws.
      { waitUntil: waitUntilOf(read(context, 'executionCtx')) },
    );
  const handle = (context: HonoContext, next: () => Promise<void>) => {
    if (!isFetchRequest(read(read(context, 'req'), 'raw'))) throw wrongArgument(TAKES, context);
    return isOwn(context.req.path) ? respond(context) : next();
  };
  return Object.assign(handle, { receiver });
}

/**
 * The request, with the bytes that Hono has kept if a middleware has read its body. A body that was
 * read as a form does not have the bytes that were sent, and neither does JSON in older versions.
 */
async function requestOf({ req: { raw, bodyCache } }: HonoContext): Promise<Request> {
  const { method, url, headers } = raw;
  if (method !== 'POST' || !raw.bodyUsed) return raw;
  const { arrayBuffer, blob, text } = Object(bodyCache) as Record<
    string,
    Promise<string | ArrayBuffer | Blob>
  >;
  try {
    const body = await (arrayBuffer ?? blob ?? text);
    return body === undefined ? raw : new Request(url, { method, headers, body });
  } catch {
    return raw; // the connection broke while it was read
  }
}
