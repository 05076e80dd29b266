import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import fc from 'fast-check';
import { storableKey, storableKeySync } from '../../src/stores.ts';
import { sha256 } from '../../src/internal.ts';

/** Any text, with lone surrogates and NUL, up to 4,000 characters once it is repeated. */
const texts = fc
  .string({ unit: anyCharacter, maxLength: 400 })
  .chain((text) =>
    fc.constantFrom(
      text,
      `${text}\ud800`,
      `\udc00${text}`,
      `${text}\0`,
      text.repeat(40).slice(0, 4_000),
    ),
  );

describe('storableKey', () => {
  it('keeps readable keys as they are', async () => {
    for (const key of ['call-1:call:completed', 'custom:é', '\u{1f4de}', 'x'.repeat(256)])
      expect(await storableKey(key)).toBe(key);
  });

  it('returns a short text without NUL or lone surrogates, different for each key', () =>
    fc.assert(
      fc.asyncProperty(texts, texts, async (one, other) => {
        const [first, second] = await Promise.all([storableKey(one), storableKey(other)]);
        expect(first).toMatch(/^[^\0\p{Surrogate}]{1,256}$/u);
        expect(first === second).toBe(one === other);
        if (first !== one) expect(await storableKey(first)).not.toBe(first); // no key passes for a hash
      }),
    ));

  it('is the same synchronously', () => {
    const hash = (text: string) =>
      createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
    return fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const key of [text, `sha256:${text}`])
          expect(storableKeySync(key, hash)).toBe(await storableKey(key));
      }),
    );
  });

  it('distinguishes texts that UTF-8 would make equal', async () => {
    expect(await sha256('\ud800')).not.toBe(await sha256('\ud801'));
    expect(await sha256('\ud800')).not.toBe(await sha256('\ufffd'));
  });
});
