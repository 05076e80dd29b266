import { ready } from '@call-webhooks/next';
import { POST } from '../hook/route.ts';

export const GET = ready(POST);
