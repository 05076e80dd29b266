import { describe, expect, it } from '@jest/globals';
import { redact } from './payload.ts';

/** Numbers of many countries, as they are grouped there. */
const NUMBERS = [
  '+1 (201) 555-0123',
  '+1 506-234-5678',
  '+44 121 234 5678',
  '+44 (0)20 7946 0018',
  '+353 22 12345',
  '+49 30 123456',
  '+49 (0)1512 3456789',
  '+49 30/12 34 56',
  '+43 1 234567890',
  '+41 21 234 56 78',
  '+33 1 23 45 67 89',
  '+32 12 34 56 78',
  '+31 10 123 4567',
  '+352 27 12 34 56',
  '+34 810 12 34 56',
  '+351 21 234 5678',
  '+39 02 1234 5678',
  '+45 32 12 34 56',
  '+46 8-12 34 56',
  '+47 21 23 45 67',
  '+358 13 1234567',
  '+354 410 1234',
  '+48 12 345 67 89',
  '+420 212 345 678',
  '+36 1 234 5678',
  '+40 21 123 4567',
  '+30 21 2345 6789',
  '+90 (212) 345 67 89',
  '+7 301 123-45-67',
  '+380 44 123 4567',
  '+972 2-123-4567',
  '+20 2 34567890',
  '+27 10 123 4567',
  '+234 803 123 4567',
  '+254 20 2012345',
  '+91 74104 10123',
  '+86 10 1234 5678',
  '+852 2123 4567',
  '+81 3-1234-5678',
  '+82 2-2123-4567',
  '+65 6123 4567',
  '+61 2 1234 5678',
  '+64 3-234 5678',
  '+55 11 2345-6789',
  '+54 11 2345-6789',
  '+52 200 123 4567',
  '+56 2 2123 4567',
  '+57 601 2345678',
];

describe.each(NUMBERS)('%s', (number) => {
  const digits = number.replace(/\D/g, '');

  it.each([
    ['as it is', number],
    ['without gaps', `+${digits}`],
    ['with dots', `+${digits.replace(/(\d{3})(?=\d)/g, '$1.')}`],
    ['with dashes of a typesetter', `+${digits.replace(/(\d{2})(?=\d)/g, '$1\u2013')}`],
    ['with blanks that do not break', number.replaceAll(' ', '\u00a0')],
    ['escaped for a URL', encodeURIComponent(number)],
  ])('is removed %s', (_how, text) => {
    expect(redact(`no ${text}!`)).toBe('no [redacted]!');
  });

  it.each(['phone ', 'phone: ', '"toPhoneNumber":"', 'mobile=', 'tel. ', 'dialing '])(
    'is removed without its plus after %s',
    (word) => {
      const national = number.slice(1);
      expect(redact(`${word}${national}!`)).toBe(`${word}[redacted]!`);
      expect(redact(`${word}${digits}!`)).toBe(`${word}[redacted]!`);
    },
  );

  it('is removed in any grouping if it was called', () => {
    const called = { toPhoneNumber: number };
    for (const gap of ['', ' ', '-', '.', '/', ') ', ' ('])
      expect(redact(`no ${(digits.match(/\d/g) ?? []).join(gap)}!`, called)).toBe('no [redacted]!');
    expect(redact(`row ${digits.slice(-7)}`, called)).toBe('row [redacted]');
  });
});

describe('what is no phone number', () => {
  it.each([
    ['less than 7 digits', 'at +1 30, +12 345 and phone 123456'],
    ['an id after "number" or "call"', 'call 37765128 failed; row number 12345678'],
    ['a date', 'the last SMS 2026-04-01 10:00:00 failed'],
    ['the address of a server', 'dialing 192.168.100.150:5060 failed'],
    ['a time in milliseconds', 'last called 1775037600000'],
  ])('stays: %s', (_what, text) => {
    expect(redact(text)).toBe(text);
  });
});
