import { ready } from '@call-webhooks/next';
import { POST } from '../hook/route.ts';

/** Whether this process would accept a delivery now. */
export const GET = ready(POST);
