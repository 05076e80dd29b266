import type { QueuedDelivery } from '@call-webhooks/core';
import { sha256, tenantKey } from '@call-webhooks/core/stores';

/** The id of an event's job. It is the same for the same event. */
export const jobId = ({ tenant, key, webhookId = '' }: Partial<QueuedDelivery>): Promise<string> =>
  uuidOf(key === undefined ? `webhook ${tenantKey(tenant, webhookId)}` : `event ${key}`);

/** The id of the job that continues a job sent by hand. */
export const continuedJobId = (id: string): Promise<string> => uuidOf(`job ${id}`);

/** A UUID (version 8, RFC 9562) that is the same for the same text. */
async function uuidOf(text: string): Promise<string> {
  const hex = await sha256(text);
  const variant = ((parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
