import {
  createReceiver,
  type ExtraEvents,
  type ReceiverOptions,
  type StandardSchema,
} from '@call-webhooks/core';
import { nodeHandler, type NodeHandler } from '@call-webhooks/core/node';

export { keepRawBody } from '@call-webhooks/core/node';

const FIX =
  'Mount callWebhooks before app.use(express.json()), or keep the raw bytes for it: express.json({ verify: keepRawBody }), with keepRawBody from @call-webhooks/express.';

/**
 * An Express handler that receives call webhooks: `app.all('/hook', callWebhooks({ secret, on }))`.
 * Its `receiver` is for `close()` at shutdown.
 * @throws WebhookError `invalid-options` and `invalid-secret`, with the fix in the message
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): NodeHandler {
  return nodeHandler(createReceiver(options), FIX);
}
