import { createHash } from 'node:crypto';

/** A number from 0 to 1 that the seed and the parts decide, whoever draws it and whenever. */
export function draw(seed: string, ...parts: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update([seed, ...parts].join('\n'))
    .digest();
  return digest.readUInt32BE() / 2 ** 32;
}
