import { callWebhooks } from '@call-webhooks/next';
import { callHandlers } from '../../../call-handlers.ts';

export const runtime = 'edge';
export const POST = callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  on: callHandlers('edge'),
});
