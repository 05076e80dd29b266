import { callWebhooks } from '@call-webhooks/next/pages';
import { callHandlers } from '../../call-handlers.ts';

// Must be a literal. Without it, Next parses the body and the signed bytes are lost.
export const config = { api: { bodyParser: false } };

export default callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  on: callHandlers('pages'),
});
