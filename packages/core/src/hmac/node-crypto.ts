import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import * as plain from './create-hmac.ts';
import * as oneShot from './one-shot.ts';
import type { Hmac } from './seam.ts';

const hmac = oneShot.isAvailable ? oneShot : plain;

export const sharesTimers: Hmac['sharesTimers'] = true;
export const prepareKey: Hmac['prepareKey'] = hmac.prepareKey;
export const hmacBase64: Hmac['hmacBase64'] = hmac.hmacBase64;

/** As long as the texts that are compared, which are signatures. */
const SIGNATURE_LENGTH = 44;
const both = Buffer.alloc(2 * SIGNATURE_LENGTH);
const left = both.subarray(0, SIGNATURE_LENGTH);
const right = both.subarray(SIGNATURE_LENGTH);

export const equalText: Hmac['equalText'] = (a, b) => {
  if (a.length !== b.length) return false;
  if (a.length !== SIGNATURE_LENGTH)
    return timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
  both.write(a + b, 'latin1'); // one call for both: a call costs more than the bytes
  return timingSafeEqual(left, right);
};
