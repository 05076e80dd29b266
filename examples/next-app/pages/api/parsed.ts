import { callWebhooks } from '@call-webhooks/next/pages';
import { callHandlers } from '../../call-handlers';

// The mistake, to see its log line: no `config` here, so Next parses the body first.
export default callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  on: callHandlers('parsed'),
});
