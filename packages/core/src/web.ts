import type { ExtraEvents } from './dispatch/handlers.ts';
import type { StandardSchema } from './events/schema.ts';
import { readWebBody } from './http/body.ts';
import type { ReceiverOptions } from './receiver/options.ts';
import { createReceiver, type Receiver, type ReceiverRequest } from './receiver/receiver.ts';

/** A handler for fetch-style servers, with the receiver that it stands on. */
export interface WebHandler {
  (request: Request, extras?: Pick<ReceiverRequest, 'log' | 'waitUntil'>): Promise<Response>;
  readonly receiver: Receiver;
}

/**
 * A receiver for fetch-style servers: Hono, SvelteKit, Remix, Bun, Deno, Workers.
 * @throws WebhookError `invalid-options` and `invalid-secret`
 */
export function createWebHandler<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): WebHandler {
  return webHandler(createReceiver(options));
}

/** The same over a receiver that was made already. */
export function webHandler(receiver: Receiver): WebHandler {
  const handle = async (
    request: Request,
    extras: Pick<ReceiverRequest, 'log' | 'waitUntil'> = {},
  ) => {
    const { method, headers } = request;
    const answer = await receiver.receive({
      method,
      headers,
      body: (limits) => readWebBody(request, limits),
      ...extras,
    });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
  return Object.assign(handle, { receiver });
}
