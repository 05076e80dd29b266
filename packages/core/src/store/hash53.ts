const { imul } = Math;

/**
 * 53 bits of a text (cyrb53). Only for uses where two texts with the same hash do no harm: a number
 * is kept in less memory than a string.
 */
export function hash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = imul(high ^ code, 0x9e3779b1);
    low = imul(low ^ code, 0x5f356495);
  }
  const mixedHigh = mix(high, low);
  return (mixedHigh >>> 11) * 2 ** 32 + (mix(low, mixedHigh) >>> 0);
}

const mix = (half: number, other: number): number =>
  imul(half ^ (half >>> 16), 0x85ebca6b) ^ imul(other ^ (other >>> 13), 0xc2b2ae35);
