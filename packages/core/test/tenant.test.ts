import fc from 'fast-check';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import { describe, expect, it } from '@jest/globals';
import { isTenantName, tenantKey } from '../src/store/keys.ts';
import { runs, SEED } from './support.ts';

/** Any text: all of Unicode, halves of surrogate pairs, and what keys are made of more often. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(':', '%', '3', 'A', 'a', 'tenant'),
    fc.string({ unit: anyCharacter }),
  ),
});

describe('tenantKey', () => {
  it('is the key itself without a tenant', () => {
    fc.assert(
      fc.property(anyText, (key) => tenantKey(undefined, key) === key),
      { seed: SEED },
    );
  });

  it('can be read, and tells a:b + c from a + b:c', () => {
    expect(tenantKey('acme', 'c1:call:started')).toBe('tenant:acme:c1:call:started');
    expect(tenantKey('a', 'b:c')).toBe('tenant:a:b:c');
    expect(tenantKey('a:b', 'c')).toBe('tenant:a%3Ab:c');
    expect(tenantKey('a%3Ab', 'c')).toBe('tenant:a%253Ab:c');
  });

  it('is another one for another tenant or key, whatever they are', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (tenant, key, otherTenant, otherKey) => {
        const isSame = tenant === otherTenant && key === otherKey;
        expect(tenantKey(tenant, key) === tenantKey(otherTenant, otherKey)).toBe(isSame);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('is another one wherever the same text is cut in two', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(), (text, one, other) => {
        const [a, b] = [one % (text.length + 1), other % (text.length + 1)];
        const cutAt = (at: number) => tenantKey(text.slice(0, at), text.slice(at));
        expect(cutAt(a) === cutAt(b)).toBe(a === b);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });
});

describe('isTenantName', () => {
  it.each([
    'acme',
    'a',
    'A c:m/e%.',
    'Zoë',
    '東京',
    '😀',
    'acme.example.com:8080',
    'x'.repeat(128),
  ])('takes %j', (name) => {
    expect(isTenantName(name)).toBe(true);
  });

  it.each(['', 'x'.repeat(129), 'a\0', 'a\nb', '\u2028', '\u200b', '\ud800', 7, null, {}, ['a']])(
    'does not take %j',
    (name) => {
      expect(isTenantName(name)).toBe(false);
    },
  );
});
