import { Buffer } from 'node:buffer';
import crypto, { type KeyObject } from 'node:crypto';
import type { Hmac, HmacKey } from './types.ts';

const BLOCK = 64;
const DIGEST = 32;
/** Longer messages use `createHmac`: copying them would cost more than it saves. */
const MAX_ONE_SHOT = 8_192;
/** The length of a signature, which is what is usually compared. */
const SIGNATURE_LENGTH = 44;

interface NodeKey extends HmacKey {
  readonly key: KeyObject;
  readonly innerPad: Uint8Array;
  readonly outerPad: Uint8Array;
}

// Node has it from 20.12 and 21.7 on; other runtimes with a `node:crypto` may not.
const hash = crypto.hash as typeof crypto.hash | undefined;

// Scratch memory for all calls. This is safe because a call never waits, and returns only texts.
const inner = Buffer.alloc(BLOCK + MAX_ONE_SHOT);
const outer = Buffer.alloc(BLOCK + DIGEST);
const pair = Buffer.alloc(2 * SIGNATURE_LENGTH);
const left = pair.subarray(0, SIGNATURE_LENGTH);
const right = pair.subarray(SIGNATURE_LENGTH);
/** Views of the start of `inner`, by length: making one takes a tenth of the whole time. */
const views: (Uint8Array | undefined)[] = [];
/** The key whose pads are at the start of the scratch memory. */
let padded: HmacKey | undefined;

export const sharesTimers: Hmac['sharesTimers'] = true;

export const prepareKey: Hmac['prepareKey'] = (bytes) => {
  const short = bytes.length > BLOCK ? crypto.createHash('sha256').update(bytes).digest() : bytes;
  const pad = (filler: number) =>
    Uint8Array.from({ length: BLOCK }, (_none, index) => (short[index] ?? 0) ^ filler);
  return {
    implementation: 'node:crypto',
    key: crypto.createSecretKey(bytes),
    innerPad: pad(0x36),
    outerPad: pad(0x5c),
  } satisfies NodeKey;
};

/**
 * HMAC-SHA256 by its definition, `hash(outer pad + hash(inner pad + message))`, with the one-shot
 * `crypto.hash`. For a small body this takes half the time of `createHmac`, whose objects cost more
 * than the hashing. Tests compare it with `createHmac`, which is used for the rest.
 */
export const hmacBase64: Hmac['hmacBase64'] = (key, head, body) => {
  const { key: keyObject, innerPad, outerPad } = key as NodeKey;
  const length = BLOCK + head.length + body.length;
  if (hash === undefined || length > inner.length)
    return crypto.createHmac('sha256', keyObject).update(head).update(body).digest('base64');
  if (key !== padded) {
    inner.set(innerPad);
    outer.set(outerPad);
    padded = key;
  }
  inner.write(head, BLOCK, 'latin1');
  inner.set(body, BLOCK + head.length);
  const message = (views[length] ??= inner.subarray(0, length));
  outer.write(hash('sha256', message, 'binary'), BLOCK, 'latin1');
  return hash('sha256', outer, 'base64');
};

export const equalText: Hmac['equalText'] = (a, b) => {
  if (a.length !== b.length) return false;
  if (a.length !== SIGNATURE_LENGTH)
    return crypto.timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
  pair.write(a + b, 'latin1'); // one call for both: a call costs more than the bytes
  return crypto.timingSafeEqual(left, right);
};
