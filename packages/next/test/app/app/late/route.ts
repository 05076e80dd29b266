import { callWebhooks } from '@call-webhooks/next';
import { callHandlers } from '../../call-handlers.ts';
import { keptAlive } from '../../kept-alive.ts';

export const POST = callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  ackWithin: 100,
  on: callHandlers('late'),
});

export const dynamic = 'force-dynamic';
export const GET = () => Response.json(keptAlive().size);
