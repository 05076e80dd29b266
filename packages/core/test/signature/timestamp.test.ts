import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { checkTimestamp, replayUntil } from '../../src/signature/verify.ts';
import { NOW, SECONDS, SEED } from '../support.ts';

const accepted = (seconds: number, now = NOW, tolerance = 300) => {
  try {
    checkTimestamp(String(seconds), now, tolerance);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'timestamp-out-of-tolerance' });
    return false;
  }
};

describe('checkTimestamp', () => {
  it.each([
    [0, true],
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
    [1_000_000, false],
  ])('with %p s of difference says %p', (difference, expected) => {
    expect(accepted(SECONDS + difference)).toBe(expected);
  });

  it('respects the configured tolerance', () => {
    expect(accepted(SECONDS - 10, NOW, 10)).toBe(true);
    expect(accepted(SECONDS - 11, NOW, 10)).toBe(false);
  });

  it('says whether the timestamp was early or late', () => {
    expect(() => checkTimestamp(String(SECONDS - 400), NOW, 300)).toThrow('400 s ago');
    expect(() => checkTimestamp(String(SECONDS + 400), NOW, 300)).toThrow('400 s ahead');
  });
});

describe('replayUntil', () => {
  it('covers the whole time in which the signature is valid, at least 300 s', () => {
    const moment = fc.integer({ min: NOW, max: NOW + 10_000_000 });
    fc.assert(
      fc.property(
        moment,
        fc.integer({ min: -300, max: 300 }),
        fc.integer({ min: 0, max: 999 }),
        (now, ahead, part) => {
          const signed = Math.floor(now / 1000) + ahead;
          const until = replayUntil(signed, now, 300);
          expect(until).toBeGreaterThanOrEqual(now + 300_000);
          expect(accepted(signed, until + part)).toBe(until + part < (signed + 301) * 1000);
          expect(accepted(signed, Math.max(until, (signed + 301) * 1000))).toBe(false);
        },
      ),
      { seed: SEED },
    );
  });
});
