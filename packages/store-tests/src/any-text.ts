import fc from 'fast-check';

/** Any character of Unicode. For `unit: 'binary'`, fast-check lists a million of them, which takes two seconds. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff })
  .map((code) => String.fromCodePoint(code));

/** Any text of up to 4,000 characters, with NUL, lone surrogates and every kind of letter. */
export const anyText: fc.Arbitrary<string> = fc
  .tuple(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.constantFrom('', '\0', '\ud800', '\udfff', '\ud83d', '\u2028'),
    fc.constantFrom(1, 1, 1, 20),
  )
  .map(([text, odd, times]) => `${odd}${text}${odd}`.repeat(times).slice(0, 4_000));
