import fc from 'fast-check';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import { describe, expect, it } from '@jest/globals';
import { hash53 } from '../../src/store/memory-store.ts';
import { SEED } from '../support.ts';

describe('hash53', () => {
  it('is a whole number of at most 53 bits', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(Number.isSafeInteger(hash53(text))).toBe(true);
        expect(hash53(text)).toBeGreaterThanOrEqual(0);
      }),
      { seed: SEED },
    );
  });

  it('differs for 20,000 tokens that differ only in their counter', () => {
    const hashes = new Set<number>();
    for (let i = 0; i < 20_000; i++) hashes.add(hash53(`c29tZSByYW5kb20h-${i.toString(36)}`));
    expect(hashes.size).toBe(20_000);
  });
});
