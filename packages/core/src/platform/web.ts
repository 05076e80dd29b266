import type { HmacKey, Platform } from './platform.ts';

interface WebKey extends HmacKey {
  readonly key: Promise<CryptoKey>;
}
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

export const prepareKey: Platform['prepareKey'] = (bytes): WebKey => {
  const key = crypto.subtle.importKey('raw', new Uint8Array(bytes), ALGORITHM, false, ['sign']);
  key.catch(() => undefined); // signing with it reports the failure
  return { implementation: 'WebCrypto', key };
};

export const hmacBase64: Platform['hmacBase64'] = async (key, head, body) => {
  const signed = new Uint8Array(head.length + body.length);
  new TextEncoder().encodeInto(head, signed);
  signed.set(body, head.length);
  const digest = await crypto.subtle.sign('HMAC', await (key as WebKey).key, signed);
  return toBase64(new Uint8Array(digest));
};

export const equalText: Platform['equalText'] = (a, b) => {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
};

/** `String.fromCharCode` takes a limited number of arguments. */
const CHUNK = 8_192;

export const toBase64: Platform['toBase64'] = (bytes) => {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return btoa(binary);
};

export const fromBase64: Platform['fromBase64'] = (text) =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

export const sharesTimers: Platform['sharesTimers'] = false;
export const currentProcess: Platform['currentProcess'] = () => ({ host: '', pid: 0 });
export const apartFromRequests: Platform['apartFromRequests'] = (run) => run;
export const inThisContext: Platform['inThisContext'] = (run) => run;
export const openChannel: Platform['openChannel'] = () => undefined;
export const openTracingChannel: Platform['openTracingChannel'] = () => undefined;
