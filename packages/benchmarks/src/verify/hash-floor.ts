import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Verify } from './signed-message.ts';

const outer = Buffer.alloc(64 + 32);

/** The floor: a hash of the body and one of a digest, as in an HMAC. It verifies nothing. */
export const verify: Verify = ({ body }) => {
  const digest = hash('sha256', body, 'binary');
  return digest.length === 32 && hash('sha256', outer, 'base64');
};
