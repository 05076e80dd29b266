import {
  createReceiver,
  type ReceiverOptions,
  type Store,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { nodeHandler, type NodeHandler } from '@call-webhooks/core/node';

export * from '@call-webhooks/core';
export { keepRawBody, type NodeHandler } from '@call-webhooks/core/node';

const FIX =
  'Mount callWebhooks before app.use(express.json()), or keep the raw bytes with express.json({ verify: keepRawBody }), where keepRawBody is exported by @call-webhooks/express.';

/**
 * Creates an Express handler that receives call webhooks. Mount it before a body parser. Call `close()`
 * of its `receiver` at shutdown, for example with `closeOnSignal`.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * const hook = callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 * app.all('/hook', hook); // before app.use(express.json())
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): NodeHandler {
  return nodeHandler(createReceiver(options), FIX);
}
