import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import * as plain from './create-hmac.ts';
import type { Hmac, HmacKey } from './seam.ts';

/**
 * HMAC-SHA256 as its definition has it, `hash(outer pad + hash(inner pad + text))`, over the one-shot
 * `crypto.hash`: half the cost of a `createHmac`, whose objects cost more than the hashing of a small
 * body. `test/one-shot.test.ts` holds it against `create-hmac.ts`.
 *
 * The text is put together in scratch memory that all calls share. That is safe because a call never
 * waits in between, and because texts, not parts of the scratch memory, go out.
 */
const BLOCK = 64;
const DIGEST = 32;
/** Longer texts go the plain way: copying would cost more than it saves. */
const LONGEST = 8_192;

interface PaddedKey extends HmacKey {
  readonly innerPad: Uint8Array;
  readonly outerPad: Uint8Array;
  readonly plain: HmacKey;
}

// There from Node 20.12 and 21.7 on; other runtimes with a `node:crypto` may lack it.
const hash = crypto.hash as typeof crypto.hash | undefined;
export const isAvailable = typeof hash === 'function';

const inner = Buffer.alloc(BLOCK + LONGEST);
const outer = Buffer.alloc(BLOCK + DIGEST);
/** The key whose pads the scratch memory begins with. */
let padded: HmacKey | undefined;
/** Views on the beginning of `inner` by their length: making one costs a tenth of the whole. */
const views: (Uint8Array | undefined)[] = [];

export function prepareKey(bytes: Uint8Array): PaddedKey {
  const short = bytes.length > BLOCK ? crypto.createHash('sha256').update(bytes).digest() : bytes;
  const pad = (filler: number) =>
    Uint8Array.from({ length: BLOCK }, (_none, index) => (short[index] ?? 0) ^ filler);
  return {
    implementation: 'node:crypto',
    innerPad: pad(0x36),
    outerPad: pad(0x5c),
    plain: plain.prepareKey(bytes),
  };
}

export const hmacBase64 = ((key, head, body) => {
  const { innerPad, outerPad, plain: plainKey } = key as PaddedKey;
  const length = BLOCK + head.length + body.length;
  if (hash === undefined || length > inner.length) return plain.hmacBase64(plainKey, head, body);
  if (key !== padded) {
    inner.set(innerPad);
    outer.set(outerPad);
    padded = key;
  }
  inner.write(head, BLOCK, 'latin1');
  inner.set(body, BLOCK + head.length);
  const text = (views[length] ??= inner.subarray(0, length));
  outer.write(hash('sha256', text, 'binary'), BLOCK, 'latin1');
  return hash('sha256', outer, 'base64');
}) satisfies Hmac['hmacBase64'];
