import { createHash } from 'node:crypto';

const MAX_LENGTH = 256;
const HASHED = 'sha256:';

/**
 * The text that a key is stored as: itself, so that it can be read in the table, unless it is long,
 * looks like a hashed one, or has what not every client passes on whole (NUL, lone surrogates).
 */
export function keyText(key: string): string {
  if (key.length <= MAX_LENGTH && !/[\0\p{Surrogate}]/u.test(key) && !key.startsWith(HASHED))
    return key;
  return HASHED + createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex');
}
