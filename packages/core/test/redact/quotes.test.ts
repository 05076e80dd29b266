import { describe, expect, it } from '@jest/globals';
import { redact } from './payload.ts';

const NOTE = 'please call back tomorrow about the big offer of last week';

describe('quotes of a longer text', () => {
  it.each([
    ['the first 20 characters', `refused ${NOTE.slice(0, 20)}`, 'refused [redacted]'],
    ['the last 20 characters', `refused ${NOTE.slice(-20)}!`, 'refused [redacted]!'],
    ['two quotes in a row', `no ${NOTE.slice(0, 20)}${NOTE.slice(30, 50)}!`, 'no [redacted]!'],
    ['a quote in capitals', `no ${NOTE.slice(0, 30).toUpperCase()}!`, 'no [redacted]!'],
    [
      'a quote in capitals, after a letter that has no capital',
      `groß: ${NOTE.slice(0, 30).toUpperCase()}!`,
      'groß: [redacted]!',
    ],
    [
      'a quote after a letter that gets longer in lower case',
      `İİİ: ${NOTE.slice(0, 30)}!`,
      'İİİ: [redacted]!',
    ],
  ])('%s', (_what, text, logged) => {
    expect(redact(text, { note: NOTE })).toBe(logged);
  });

  it('of fewer than 20 characters stay', () => {
    const text = `refused ${NOTE.slice(0, 19)}!`;
    expect(redact(text, { note: NOTE })).toBe(text);
  });
});
