import { callWebhooks } from '@call-webhooks/next/pages';
import { callHandlers } from '../../call-handlers.ts';

// Shows a mistake and its log line: there is no `config`, so Next parses the body first.
export default callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  on: callHandlers('parsed'),
});
