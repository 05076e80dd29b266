import expect from '../../expect.cjs';
import fc from 'fast-check';
import { anyText } from '../any-text.ts';
import { LEASE_MS, type StoreTestContext } from './under-test.ts';
import { unique } from '../unique.ts';

/** Leases on events, attempts, and what is done. */
export function events({ it, store, claim, advance }: StoreTestContext): void {
  it('admits an event once at a time, and knows it as done afterwards', async () => {
    const key = unique('event');
    const first = claim(key);
    expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    expect(await store().complete(key, first.token)).toBe(true);
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
    await advance(LEASE_MS * 2);
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
  });

  it('counts attempts across releases and expired leases; a refused claim uses up no attempt', async () => {
    const key = unique('event');
    for (let attempt = 1; attempt <= 8; attempt++) {
      const owner = claim(key);
      expect(await store().admit(owner)).toEqual({ status: 'admitted', attempt });
      expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
      expect(await store().admit({ ...owner, token: unique('token') })).toEqual({
        status: 'replayed',
      });
      if (attempt % 2 === 0) await advance(LEASE_MS + 1);
      else expect(await store().release(key, owner.token)).toBe(true);
    }
  });

  it('fences a process whose lease has expired: it cannot complete, release or extend, before and after another claim is admitted', async () => {
    const key = unique('event');
    const zombie = claim(key);
    await store().admit(zombie);
    await advance(LEASE_MS + 1);
    const refused = async () => {
      expect(await store().complete(key, zombie.token)).toBe(false);
      expect(await store().release(key, zombie.token)).toBe(false);
      expect(await store().extend(key, zombie.token, LEASE_MS)).toBe(false);
    };
    await refused();
    const owner = claim(key);
    expect(await store().admit(owner)).toEqual({ status: 'admitted', attempt: 2 });
    await refused();
    expect(await store().complete(key, owner.token)).toBe(true);
    await refused();
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
  });

  it('fences a token that has released the lease, or has never held it', async () => {
    const key = unique('event');
    const first = claim(key);
    expect(await store().complete(key, first.token)).toBe(false);
    await store().admit(first);
    expect(await store().complete(key, unique('token'))).toBe(false);
    expect(await store().release(key, unique('token'))).toBe(false);
    expect(await store().extend(key, unique('token'), LEASE_MS)).toBe(false);
    expect(await store().release(key, first.token)).toBe(true);
    expect(await store().complete(key, first.token)).toBe(false);
    expect(await store().extend(key, first.token, LEASE_MS)).toBe(false);
    expect(await store().admit(claim(key))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('extends a live lease from now on, and shortens it as well', async () => {
    const key = unique('event');
    const first = claim(key, { leaseMs: LEASE_MS + 0.5 });
    await store().admit(first);
    await advance(50_000);
    // A fraction, as a receiver asks for near the end.
    expect(await store().extend(key, first.token, LEASE_MS - 0.25)).toBe(true);
    await advance(50_000);
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    expect(await store().extend(key, first.token, 1_000)).toBe(true);
    await advance(1_001);
    expect(await store().complete(key, first.token)).toBe(false);
    expect(await store().admit(claim(key))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('tells any two keys apart, including keys with lone surrogates and NUL', async () => {
    const others = [
      '\ud800',
      '\udbff',
      '\udc00',
      '\ufffd',
      '\0',
      '',
      'sha256:',
      ':',
      ' ',
      '%',
      '*',
    ];
    others.push('}', '{', '\n', 'é', 'e\u0301', "'; --", '\u{1f4de}', 'a', 'A', 'x'.repeat(4_000));
    const arbitraryKeys = fc.uniqueArray(anyText, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(arbitraryKeys, async (texts) => {
        const prefix = unique('event');
        const keys = [...new Set([...texts, ...others])].map((text) => `${prefix}${text}`);
        keys.push(`{${prefix}}`, `}${prefix}`, `{}${prefix}`, `custom:${prefix}`);
        for (const key of keys) {
          const first = claim(key, { webhookId: `${unique('webhook')}${key}` });
          expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
          const replay = { ...first, token: unique('token') };
          expect(await store().admit(replay)).toEqual({ status: 'replayed' });
          expect(await store().extend(key, first.token, LEASE_MS)).toBe(true);
          expect(await store().complete(key, first.token)).toBe(true);
          expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
        }
      }),
      { numRuns: 5 },
    );
  });
}
