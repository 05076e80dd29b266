import { callWebhooks } from '@call-webhooks/next';

export const POST = callWebhooks({ secret: process.env.CALL_WEBHOOK_SECRET });
