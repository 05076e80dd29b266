import { createHash } from 'node:crypto';
import type { QueuedDelivery } from '@call-webhooks/core';

/** The uuid (version 8, RFC 9562) of an event's job: the same for the same event, as pg-boss wants one. */
export function jobId({ key, webhookId }: QueuedDelivery): string {
  const name = key === undefined ? `webhook ${webhookId}` : `event ${key}`;
  const bytes = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
