import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  Receiver,
  ReceiverOptions,
  Store,
  ExtraEvents,
  StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { createReceiverOnFirstUse } from '@call-webhooks/core/internal';
import { nodeHandler } from '@call-webhooks/core/node';
import { duringBuild, onFirstUse } from './build-phase.ts';

export * from '@call-webhooks/core';

const FIX =
  'Turn the body parser off in this file, with a literal: export const config = { api: { bodyParser: false } }';

/** An API route of the Pages Router, together with its receiver. */
export interface ApiHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates an API route for the Pages Router. The same file must export this `config`, as a literal.
 * @throws WebhookError `invalid-options` or `invalid-secret`. During `next build` nothing is thrown;
 *   the first request throws instead. A missing secret never throws: deliveries are answered with 503
 *   `secret-unavailable` until it is set.
 * @example
 * export const config = { api: { bodyParser: false } };
 * export default callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): ApiHandler {
  const receiver = createReceiverOnFirstUse(options);
  const handler = onFirstUse(() => nodeHandler(receiver(), FIX));
  if (!duringBuild()) handler();
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    handler()(request, response);
  return Object.defineProperty(handle, 'receiver', {
    get: () => handler().receiver,
  }) as unknown as ApiHandler;
}
