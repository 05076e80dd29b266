import { workspaces } from '../../../workspaces';
import { callHandlers } from '../../../call-handlers';
import { callWebhooks } from '@call-webhooks/next';

export const POST = callWebhooks({
  tenant: ({ path }) => path.split('/')[2],
  secret: ({ tenant }) => workspaces.secretOf(tenant),
  on: callHandlers('tenants'),
});
