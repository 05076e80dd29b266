import { createHash } from 'node:crypto';

/** A number from 0 (included) to 1 (excluded) that depends on the seed and the parts only. */
export function seededRandom(seed: string, ...parts: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update([seed, ...parts].join('\n'))
    .digest();
  return digest.readUInt32BE() / 2 ** 32;
}
