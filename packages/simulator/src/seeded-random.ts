import { createHash } from 'node:crypto';

/**
 * Random values from a seed. Each value depends on the seed and on its purpose (`'retry', eventId,
 * attempt`), never on earlier values. The order in which receivers respond therefore changes nothing.
 */
export class SeededRandom {
  readonly #seed: string;
  /** Counts resets, so that ids differ after a reset. Otherwise receivers would see duplicates. */
  run: number;

  constructor(seed: string, run = 0) {
    this.#seed = seed;
    this.run = run;
  }

  /** 32 bytes. */
  bytes(...purpose: (string | number)[]): Buffer {
    return createHash('sha256')
      .update(JSON.stringify([this.#seed, this.run, ...purpose]))
      .digest();
  }

  /** From 0 to 1, excluding 1. */
  fraction(...purpose: (string | number)[]): number {
    return this.bytes(...purpose).readUIntBE(0, 6) / 2 ** 48;
  }

  /** `true` with the given probability, 0 to 1. */
  chance(probability: number, ...purpose: (string | number)[]): boolean {
    return this.fraction(...purpose) < probability;
  }

  /** An integer from `min` to `max`, both included. */
  whole(min: number, max: number, ...purpose: (string | number)[]): number {
    return min + Math.floor(this.fraction(...purpose) * (max - min + 1));
  }

  /**
   * An id of 24 hexadecimal digits.
   * @guess Ids
   */
  id(...purpose: (string | number)[]): string {
    return this.bytes('id', ...purpose).toString('hex', 0, 12);
  }

  /** A version 4 UUID. */
  uuid(...purpose: (string | number)[]): string {
    const bytes = this.bytes('uuid', ...purpose);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** A signing secret: `whsec_` and 24 bytes of base64 (spec, "Webhook deliveries"). */
  secret(...purpose: (string | number)[]): string {
    return `whsec_${this.bytes('secret', ...purpose).toString('base64', 0, 24)}`;
  }
}
