import { after } from 'next/server.js';
import {
  createReceiver,
  type ExtraEvents,
  type Receiver,
  type ReceiverOptions,
  type StandardSchema,
} from '@call-webhooks/core';
import { webHandler } from '@call-webhooks/core/web';
import { duringBuild, onFirstUse } from './build-phase.ts';

/** A route handler of the App Router, with the receiver that it stands on. */
export interface RouteHandler {
  (request: Request): Promise<Response>;
  readonly receiver: Receiver;
}

/**
 * A route handler for the App Router: `export const POST = callWebhooks({ secret, on })`.
 * @throws WebhookError `invalid-options` and `invalid-secret`; not while `next build` imports the
 *   route, where the secret is often not set, but with the first request then
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): RouteHandler {
  const handler = onFirstUse(() => webHandler(createReceiver(options)));
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

/** A serverless function is frozen once it has answered, and a handler may go on after its deadline. */
function keepAlive(work: () => Promise<unknown> | undefined): void {
  try {
    after(work);
  } catch {
    // Outside of Next's request scope: nobody freezes us there.
  }
}
