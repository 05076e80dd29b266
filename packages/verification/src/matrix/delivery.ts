import { randomUUID } from 'node:crypto';
import { sign } from '@call-webhooks/core';

/** A signed delivery in parts that a row can change. */
export interface SignedDelivery {
  readonly webhookId: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Buffer;
}

/** A delivery of a new event, or of `body`. */
export async function signedDelivery(
  secret: string,
  body: string | Uint8Array = eventBody(),
  { webhookId = randomUUID(), aheadSeconds = 0 } = {},
): Promise<SignedDelivery> {
  const bytes = Buffer.from(body as string);
  const timestamp = Math.floor(Date.now() / 1000) + aheadSeconds;
  const headers = await sign({ secret, body: bytes, webhookId, timestamp });
  return {
    webhookId,
    timestamp: String(timestamp),
    signature: headers['X-Service-Signature'] ?? '',
    body: bytes,
  };
}

export const eventBody = (more: object = {}): string =>
  JSON.stringify({ eventName: 'call:completed', callId: randomUUID(), ...more });
