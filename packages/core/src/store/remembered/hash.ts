const { imul } = Math;
let seeds: Uint32Array | undefined;

/** 32 bits of a text, seeded anew in each process: nobody can make up texts that fall together. */
export function hashOf(text: string): number {
  return mixed(text, seedOf(0));
}

/**
 * 53 bits of a text, for telling one text from another where a mistake in 2^53 does no harm:
 * a number is kept at less cost than a string.
 */
export function fingerprintOf(text: string): number {
  return mixed(text, seedOf(1)) * 2 ** 21 + (mixed(text, seedOf(2)) >>> 11);
}

/** FNV-1a, and a last mixing, as its low bits depend on few bits of the text. */
function mixed(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function seedOf(index: number): number {
  seeds ??= crypto.getRandomValues(new Uint32Array(3)); // not at import: Workers allow nothing random there
  return seeds[index] as number;
}
