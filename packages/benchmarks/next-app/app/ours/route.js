import { callWebhooks } from '@call-webhooks/next';
import { RECEIVER_OPTIONS } from '../../../dist/esm/http/shared.js';

export const POST = callWebhooks(RECEIVER_OPTIONS);
