import { callWebhooks } from '@call-webhooks/next';
import { store } from '../../store';

export const POST = callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  store,
  on: {
    'call:completed': ({ callId }, { attempt }) => {
      // Simulates a CRM that is down for a moment: the service retries the event.
      if (callId?.startsWith('flaky') && attempt === 1) throw new Error('The CRM is down');
      console.log(`call ${callId ?? '?'} completed (attempt ${String(attempt)})`);
    },
  },
});
