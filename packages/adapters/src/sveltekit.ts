import { WebhookError, type Receiver, type ReceiverOptions, type Store } from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import {
  createReceiverOnFirstUse,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core/internal';
import { webHandler, type WebHandler } from '@call-webhooks/core/web';

export * from '@call-webhooks/core';

/** The part that we use of SvelteKit's event. */
export interface SvelteKitEvent {
  readonly request: Request;
  /** What the adapter of SvelteKit provides, such as Cloudflare's context. */
  readonly platform?: object | undefined;
}

/** A request handler of a `+server.ts`, with its receiver. */
export interface SvelteKitHandler {
  (event: SvelteKitEvent): Promise<Response>;
  readonly receiver: Receiver;
}

/**
 * Creates a request handler for a `+server.ts`. SvelteKit imports it while it builds the app, so
 * options are checked at the first request. Until a missing secret is set, deliveries are answered
 * 503 `secret-unavailable`.
 *
 * The same file must export `trailingSlash`: otherwise SvelteKit redirects `/hook/` to `/hook`.
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
    checkArgument(event);
    handler ??= webHandler(receiver());
    return handler(event.request, { waitUntil: waitUntilOf(event) });
  };
  return Object.defineProperty(handle, 'receiver', { get: receiver }) as SvelteKitHandler;
}

/** Of Cloudflare: `platform.ctx`, or `platform.context` in older versions. */
function waitUntilOf({ platform }: SvelteKitEvent) {
  type Context = { waitUntil?(work: Promise<unknown>): void } | undefined;
  const { ctx, context = ctx } = Object(platform) as { ctx?: Context; context?: Context };
  return typeof context?.waitUntil === 'function' ? context.waitUntil.bind(context) : undefined;
}

/** @throws WebhookError `invalid-options` for anything but SvelteKit's event */
function checkArgument(event: { request?: Partial<Request> } | undefined): void {
  if (typeof event?.request?.headers?.get === 'function') return;
  throw new WebhookError(
    'invalid-options',
    "This handler takes SvelteKit's event: export const POST = callWebhooks({ … }) in a +server.ts. For fetch's Request, use createWebHandler of @call-webhooks/core/web.",
  );
}
