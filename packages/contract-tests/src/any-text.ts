import fc from 'fast-check';

/** Any text of up to 4,000 characters, with NUL, lone surrogates and every kind of letter. */
export const anyText: fc.Arbitrary<string> = fc
  .tuple(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom('', '\0', '\ud800', '\udfff', '\ud83d', '\u2028'),
    fc.constantFrom(1, 1, 1, 20),
  )
  .map(([text, odd, times]) => `${odd}${text}${odd}`.repeat(times).slice(0, 4_000));
