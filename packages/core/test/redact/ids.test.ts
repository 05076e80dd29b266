import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { redactId } from '../../src/internal.ts';
import { shownTenant, withRedactedIds } from '../../src/report/ids.ts';
import { createRedactor } from '../../src/report/redact.ts';
import { runs, SEED } from '../support.ts';

describe('redactId', () => {
  it.each([
    'call-1:call:completed',
    '65f1c0ffee65f1c0ffee65f1:call:started',
    'b1f7a2c4-1f7e-4a52-9d3a-0123456789ab',
    'custom:ticket-4711',
    '15550104477',
  ])('keeps %s', (id) => {
    expect(redactId(id)).toBe(id);
  });

  it.each([
    ['ada@example.com', '[redacted]'],
    ['custom:ada@example.com', 'custom:[redacted]'],
    ['+491715550123:call:completed', '[redacted]:call:completed'],
    ['+49 171 5550123', '[redacted]'],
    ['tel:030-5550123', 'tel:[redacted]'],
    ['custom:phone:555-010-4477', 'custom:phone:[redacted]'],
    [`${'x.'.repeat(97)}-ada@example.com`, '[redacted]'],
    ['custom:whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'custom:[redacted]'],
    ['a\nb\u2028c', 'a?b?c'],
    ['x'.repeat(500), 'x'.repeat(200)],
  ])('makes %j %j', (id, told) => {
    expect(redactId(id)).toBe(told);
  });

  it('takes no shortcut that keeps what the redactor removes', () => {
    const redact = createRedactor();
    const words =
      'call phone number tel token secret api_key key sk rk_live_ ghp_ npm_ xoxb glpat AKIA AIza eyJ bearer basic password whsec_';
    const piece = fc.oneof(
      fc.constantFrom(...words.split(' ')),
      fc.stringMatching(/^\d{1,12}$/),
      fc.constantFrom('030-5550123', '555-010-4477', '0171-555', '1-2-3-4-5-6-7'),
      fc.stringMatching(/^[A-Za-z\d_]{1,20}$/),
      fc.constantFrom('-', ':', '_', '::', '+', '@', '.', '-', ':'),
    );
    const ids = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(ids, (id) => {
        expect(redactId(id)).toBe(redact(id));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });
});

describe('shownTenant', () => {
  it('redacts the tenant of a delivery that is not verified', () => {
    expect(shownTenant('ada@example.com', undefined)).toBe('[redacted]');
    expect(shownTenant('acme', undefined)).toBe('acme');
  });

  it('shows the tenant of a verified delivery as it is', () => {
    expect(shownTenant('ada@example.com', 'id-1')).toBe('ada@example.com');
  });
});

describe('withRedactedIds', () => {
  const tenant = 'ada@example.com';
  const ids = { eventName: `custom:${tenant}`, callId: tenant, key: `key of ${tenant}` };

  it('redacts every id, and keeps the rest', () => {
    expect(withRedactedIds({ ...ids, tenant, webhookId: tenant, attempt: 2 })).toEqual({
      eventName: 'custom:[redacted]',
      callId: '[redacted]',
      key: 'key of [redacted]',
      webhookId: '[redacted]',
      tenant,
      attempt: 2,
    });
    expect(withRedactedIds({ tenant })).toEqual({ tenant: '[redacted]' });
  });

  it('changes nothing in what it copies, and adds nothing to it', () => {
    const before = { callId: tenant, key: undefined };
    expect(withRedactedIds(before)).toStrictEqual({ callId: '[redacted]', key: undefined });
    expect(before.callId).toBe(tenant);
  });
});
