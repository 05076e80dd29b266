import { workspaces } from '../../../workspaces.ts';
import { callHandlers } from '../../../call-handlers.ts';
import { callWebhooks } from '@call-webhooks/next';

export const POST = callWebhooks({
  tenant: ({ path }) => path.split('/')[2],
  secret: ({ tenant }) => workspaces.secretOf(tenant),
  on: callHandlers('tenants'),
});
