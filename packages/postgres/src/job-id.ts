import { sha256, type QueuedDelivery } from '@call-webhooks/core';

/** The id of an event's job: a UUID (version 8, RFC 9562) that is the same for the same event. */
export async function jobId({ key, webhookId }: QueuedDelivery): Promise<string> {
  const hex = await sha256(key === undefined ? `webhook ${webhookId}` : `event ${key}`);
  const variant = ((parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
