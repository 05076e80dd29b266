import type { QueuedDelivery } from '@call-webhooks/core';
import { sha256, tenantKey } from '@call-webhooks/core/stores';

/** BullMQ accepts no `:` in an id, and no id of digits alone. A delivery without a key is an event of its own. */
export async function jobId({
  tenant,
  key,
  webhookId = '',
}: Partial<QueuedDelivery>): Promise<string> {
  return key === undefined
    ? `delivery-${await sha256(tenantKey(tenant, webhookId))}`
    : `event-${await sha256(key)}`;
}
