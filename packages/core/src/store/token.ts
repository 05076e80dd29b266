import { toBase64 } from '../base64.ts';

/** Random for each process, counted within it: unique, and cheaper than a random text each time. */
let prefix: string | undefined;
let count = 0;

/** A fencing token for one claim. */
export function newToken(): string {
  // Not at import: Workers allow nothing random there.
  prefix ??= `${toBase64(crypto.getRandomValues(new Uint8Array(12)))}-`;
  return prefix + (++count).toString(36);
}
