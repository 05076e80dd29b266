import crypto from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { sign, type ErrorInfo, type SecretProvider, type TenantOf } from '../../src/index.ts';
import { OTHER_SECRET, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const secret: SecretProvider = ({ tenant }) => (tenant === 'acme' ? secretOf(tenant) : undefined);
const forged = { secret: OTHER_SECRET };

describe('an unknown tenant', () => {
  it('gets exactly what a forgery gets', async () => {
    const { post, send } = createTenantsReceiver({ secret });
    expect(await send('acme', STARTED)).toBe('ignored');
    const forgery = await post('acme', STARTED, forged);
    for (const name of ['stranger', 'x'.repeat(500), '', 'a%00', '%', '__proto__']) {
      const { status, headers, body } = await post(name, STARTED, forged);
      expect({ status, headers, body }).toEqual({
        status: forgery.status,
        headers: forgery.headers,
        body: forgery.body,
      });
    }
    expect(forgery.status).toBe(401);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty list', []],
  ])('is one for which the provider has %s', async (_what, none) => {
    const { send, logger } = createTenantsReceiver({ secret: () => none });
    expect(await send('acme', STARTED)).toBe('signature-mismatch');
    expect(logger.all[0]).toContain('There is no secret for this tenant.');
  });

  it('calls onError once in a while, if the provider throws for it', async () => {
    const errors: unknown[] = [];
    const { send } = createTenantsReceiver({
      secret: ({ tenant }) => {
        throw new Error(`no ${tenant}`);
      },
      onError: (error) => errors.push(error),
    });
    for (const name of ['a', 'b', 'c', 'a'])
      expect(await send(name, STARTED, forged)).toBe('secret-unavailable');
    expect(errors).toEqual([new Error('no a')]);
  });

  it('makes the same work as a forgery: lookups and HMACs, the first time and later', async () => {
    jest.useFakeTimers();
    try {
      const provider = jest.fn<SecretProvider>(secret);
      const { send } = createTenantsReceiver({ secret: provider });
      const hmac = jest.spyOn(crypto, 'createHmac'); // that is used for large bodies
      const large = { ...STARTED, note: 'x'.repeat(10_000) };
      const signed = await sign({ secret: OTHER_SECRET, body: JSON.stringify(large) });
      expect(hmac).toHaveBeenCalledTimes(1);
      expect(signed).toBeDefined();
      const work = async (name: string) => {
        provider.mockClear();
        hmac.mockClear();
        expect(await send(name, large, forged)).toBe('signature-mismatch');
        // One HMAC is the sender's.
        return { lookups: provider.mock.calls.length, hmacs: hmac.mock.calls.length - 1 };
      };
      // Both names are new, then just asked for, then asked for again.
      for (const expected of [
        { lookups: 1, hmacs: 2 },
        { lookups: 0, hmacs: 1 },
      ])
        for (const name of ['acme', 'stranger']) expect(await work(name)).toEqual(expected);
      await jest.advanceTimersByTimeAsync(5_000);
      for (const name of ['acme', 'stranger'])
        expect(await work(name)).toEqual({ lookups: 1, hmacs: 2 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('is let in once the provider knows it', async () => {
    jest.useFakeTimers();
    try {
      const provider = jest.fn<SecretProvider>(() => undefined);
      const { send } = createTenantsReceiver({ secret: provider });
      expect(await send('new', STARTED)).toBe('signature-mismatch');
      provider.mockImplementation(() => secretOf('new'));
      await jest.advanceTimersByTimeAsync(5_000);
      expect(await send('new', STARTED)).toBe('ignored');
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the option tenant', () => {
  const withTenant = (tenant: unknown, onError?: (error: unknown, info: ErrorInfo) => void) =>
    createTenantsReceiver({ secret, tenant: tenant as TenantOf, onError });

  it.each([undefined, null, '', 'x'.repeat(129), 'a\nb', '\ud800'])(
    'may return %j for a request of no tenant: a forgery',
    async (name) => {
      const provider = jest.fn<SecretProvider>(secret);
      const { send, logger, outcomes } = createTenantsReceiver({
        secret: provider,
        tenant: () => name,
      });
      expect(await send('acme', STARTED)).toBe('signature-mismatch');
      expect(provider).not.toHaveBeenCalled();
      expect(logger.all[0]).toContain('The request names no tenant');
      expect(outcomes[0]).not.toHaveProperty('tenant');
    },
  );

  it.each<[string, unknown, string]>([
    ['a number', () => 7, 'TypeError: It must return a text, or undefined, at once.'],
    ['a promise', () => Promise.reject(new Error('late')), 'TypeError: It must return a text'],
    [
      'an error',
      () => {
        throw new Error('no such map');
      },
      'Error: no such map',
    ],
  ])('that gives %s is a bug: 503, a log line, and onError', async (_what, tenant, why) => {
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    const errors: unknown[] = [];
    const { send, post, logger } = withTenant(tenant, (error, info) => errors.push([error, info]));
    const { status, body } = await post('acme', STARTED);
    expect({ status, body }).toEqual({ status: 503, body: '{"outcome":"secret-unavailable"}' });
    expect(logger.entries).toMatchObject([{ level: 'error' }]);
    expect(logger.all[0]).toContain(`tenant failed: ${why}`);
    expect(errors).toMatchObject([[expect.any(Error), { source: 'hook' }]]);
    // Anybody may cause it, so the error tracker gets it once.
    for (let i = 0; i < 100; i++) expect(await send('acme', STARTED)).toBe('secret-unavailable');
    expect(errors).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
    process.removeListener('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('that fails makes no difference to what is not signed', async () => {
    const { receiver } = withTenant(() => 7);
    const { status } = await receiver.receive({ headers: {}, body: new Uint8Array() });
    expect(status).toBe(401);
  });

  it('gets the same view in every runtime', async () => {
    const seen: unknown[] = [];
    const { receiver } = withTenant(({ path, host, headers }: Parameters<TenantOf>[0]) => {
      seen.push({ path, host, type: headers['content-type'] });
    });
    const headers = { host: 'acme.example.com', 'content-type': 'application/json' };
    const body = new Uint8Array();
    await receiver.receive({ url: '/a?b', headers, body });
    await receiver.receive({ url: 'http://x/a?b', headers: new Headers(headers), body });
    const expected = { path: '/a', host: 'acme.example.com', type: 'application/json' };
    expect(seen).toEqual([expected, expected]);
  });
});
