import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Hmac, HmacKey } from './seam.ts';

interface NodeKey extends HmacKey {
  readonly key: KeyObject;
}

/** The plain way, and the reference that `one-shot.ts` is held against. */
export const prepareKey = (bytes: Uint8Array): NodeKey => ({
  implementation: 'node:crypto',
  key: createSecretKey(bytes),
});

export const hmacBase64 = ((key, head, body) =>
  createHmac('sha256', (key as NodeKey).key)
    .update(head)
    .update(body)
    .digest('base64')) satisfies Hmac['hmacBase64'];
