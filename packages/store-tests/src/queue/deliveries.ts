import type { QueuedDelivery } from '@call-webhooks/core';
import { callBody } from '../call-body.ts';
import { unique } from '../unique.ts';

/** A delivery as a receiver queues it: of `call:completed`, under a new webhook id. */
export function queuedCall(callId: string, more: Partial<QueuedDelivery> = {}): QueuedDelivery {
  return queued(Buffer.from(callBody(callId)), {
    key: `${callId}:call:completed`,
    eventName: 'call:completed',
    callId,
    ...more,
  });
}

/** A delivery of any bytes, under a new webhook id. */
export function queued(body: Uint8Array, more: Partial<QueuedDelivery> = {}): QueuedDelivery {
  const receivedAt = Date.now();
  return {
    webhookId: unique('webhook'),
    timestamp: Math.floor(receivedAt / 1000),
    receivedAt,
    body: Buffer.from(body).toString('base64'),
    ...more,
  };
}
