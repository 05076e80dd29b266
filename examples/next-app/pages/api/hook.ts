import { callWebhooks } from '@call-webhooks/next/pages';
import { callHandlers } from '../../call-handlers';

// Next reads this as a literal only. Without it the signed bytes are gone before they are verified.
export const config = { api: { bodyParser: false } };

export default callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  on: callHandlers('pages'),
});
