import type {
  Receiver,
  ReceiverOptions,
  Store,
  ExtraEvents,
  StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import {
  createReceiverOnFirstUse,
  isFetchRequest,
  read,
  wrongArgument,
} from '@call-webhooks/core/internal';
import { waitUntilOf, webHandler, type WebHandler } from '@call-webhooks/core/web';

export * from '@call-webhooks/core';

const TAKES =
  "This handler takes SvelteKit's event: export const POST = callWebhooks({ … }) in a +server.ts.";

/** The part of SvelteKit's event that is used. */
export interface SvelteKitEvent {
  readonly request: Request;
  /** What the adapter of SvelteKit provides, such as Cloudflare's context. */
  readonly platform?: object | undefined;
}

/** A request handler of a `+server.ts` file, together with its receiver. */
export interface SvelteKitHandler {
  (event: SvelteKitEvent): Promise<Response>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates a request handler for a `+server.ts` file of SvelteKit. SvelteKit imports the file while it
 * builds the app, so the options are checked only at the first request. While a secret is missing,
 * deliveries are answered with 503 `secret-unavailable`.
 *
 * The same file must export `trailingSlash`. Otherwise SvelteKit redirects `/hook/` to `/hook`, and a
 * redirect does not acknowledge a delivery.
 * @example
 * export const POST = callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 * export const fallback = POST; // responds 405 to other methods
 * export const trailingSlash = 'ignore';
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): SvelteKitHandler {
  const receiver = createReceiverOnFirstUse(options);
  let handler: WebHandler | undefined;
  const handle = (event: SvelteKitEvent) => {
    if (!isFetchRequest(read(event, 'request'))) throw wrongArgument(TAKES, event);
    handler ??= webHandler(receiver());
    return handler(event.request, { waitUntil: waitUntilOf(contextOf(event)) });
  };
  return Object.defineProperty(handle, 'receiver', { get: receiver }) as SvelteKitHandler;
}

/** Of Cloudflare: `platform.ctx`, or `platform.context` in older versions. */
function contextOf(event: SvelteKitEvent): unknown {
  const platform = read(event, 'platform');
  return read(platform, 'context') ?? read(platform, 'ctx');
}
