import { Buffer } from 'node:buffer';
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Hmac, HmacKey } from './seam.ts';

interface NodeKey extends HmacKey {
  readonly key: KeyObject;
}

export const sharesTimers: Hmac['sharesTimers'] = true;

export const prepareKey: Hmac['prepareKey'] = (bytes): NodeKey => ({
  implementation: 'node:crypto',
  key: createSecretKey(bytes),
});

export const hmacBase64: Hmac['hmacBase64'] = (key, head, body) =>
  createHmac('sha256', (key as NodeKey).key)
    .update(head)
    .update(body)
    .digest('base64');

export const equalText: Hmac['equalText'] = (a, b) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
