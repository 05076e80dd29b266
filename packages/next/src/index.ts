// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it is not part of what is published
/// <reference path="./next-server.d.ts" />
import { after } from 'next/server.js';
import type {
  Receiver,
  ReceiverOptions,
  Store,
  ExtraEvents,
  StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { createReceiverOnFirstUse } from '@call-webhooks/core/internal';
import { webHandler } from '@call-webhooks/core/web';
import { duringBuild, onFirstUse } from './build-phase.ts';

export * from '@call-webhooks/core';

/** A route handler of the App Router, together with its receiver. */
export interface RouteHandler {
  (request: Request): Promise<Response>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates a route handler for the App Router.
 * @throws WebhookError `invalid-options` or `invalid-secret`. During `next build` nothing is thrown;
 *   the first request throws instead. A missing secret never throws: deliveries are answered with 503
 *   `secret-unavailable` until it is set.
 * @example
 * export const POST = callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): RouteHandler {
  const receiver = createReceiverOnFirstUse(options);
  const handler = onFirstUse(() => webHandler(receiver()));
  if (!duringBuild()) handler();
  const handle = (request: Request) => {
    let late: Promise<unknown> | undefined;
    keepAlive(() => late);
    return handler()(request, { waitUntil: (work) => void (late = work) });
  };
  return Object.defineProperty(handle, 'receiver', {
    get: () => handler().receiver,
  }) as unknown as RouteHandler;
}

/** A serverless function is frozen after its response, but a handler may run beyond its deadline. */
function keepAlive(work: () => Promise<unknown> | undefined): void {
  try {
    after(work);
  } catch {
    // Outside of Next's request scope nothing is frozen.
  }
}
