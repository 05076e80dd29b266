import type { Hmac, HmacKey } from './types.ts';

interface WebKey extends HmacKey {
  readonly key: Promise<CryptoKey>;
}
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

export const sharesTimers: Hmac['sharesTimers'] = false;

export const prepareKey: Hmac['prepareKey'] = (bytes): WebKey => {
  const key = crypto.subtle.importKey('raw', new Uint8Array(bytes), ALGORITHM, false, ['sign']);
  key.catch(() => undefined); // signing with it reports the failure
  return { implementation: 'WebCrypto', key };
};

export const hmacBase64: Hmac['hmacBase64'] = async (key, head, body) => {
  const signed = new Uint8Array(head.length + body.length);
  new TextEncoder().encodeInto(head, signed);
  signed.set(body, head.length);
  const digest = await crypto.subtle.sign('HMAC', await (key as WebKey).key, signed);
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
};

export const equalText: Hmac['equalText'] = (a, b) => {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
};
