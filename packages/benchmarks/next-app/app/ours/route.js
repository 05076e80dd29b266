import { callWebhooks } from '@call-webhooks/next';
import { OPTIONS } from '../../../dist/esm/http/receiver-options.js';

export const POST = callWebhooks(OPTIONS);
