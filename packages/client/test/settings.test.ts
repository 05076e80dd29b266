import { describe, expect, jest, test } from '@jest/globals';
import { ConfigurationError } from '../src/errors/index.ts';
import type { ClientOptions } from '../src/options.ts';
import { resolveSettings } from '../src/settings.ts';
import { version } from '../src/version.ts';
import { defaultWireNames } from '../src/wire.ts';

const base = { baseUrl: 'https://example.com', apiToken: 'secret-token' };

test('fills in the defaults', async () => {
  const settings = resolveSettings(base);
  expect(settings).toMatchObject({
    timeout: 30_000,
    retry: { limit: 3, baseDelay: 500, maxDelay: 20_000, maxRetryAfter: 60_000 },
    maxRedirects: 5,
    bodyLimit: 33_554_432,
    userAgent: `call-webhooks-client/${version}`,
    allowInsecure: false,
    wire: defaultWireNames,
  });
  await expect(settings.readToken()).resolves.toBe('secret-token');
});

test('retries may be a number; an undefined wire name keeps its default', () => {
  const settings = resolveSettings({
    ...base,
    retries: 0,
    wire: { nextParam: 'cursor', nextField: undefined } as never,
  });
  expect(settings.retry.limit).toBe(0);
  expect(settings.wire).toMatchObject({ nextParam: 'cursor', nextField: 'next' });
});

test('looks the global fetch up when it is used', async () => {
  const settings = resolveSettings(base);
  const spy = jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('x'));
  await settings.fetch('https://example.com', {} as never);
  expect(spy).toHaveBeenCalledTimes(1);
  spy.mockRestore();
});

describe('refuses', () => {
  const cases: [string, Partial<ClientOptions>][] = [
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: Infinity }],
    ['retries.limit', { retries: -1 }],
    ['retries.limit', { retries: 1.5 }],
    ['retries.baseDelay', { retries: { baseDelay: NaN } }],
    ['retries.maxDelay', { retries: { maxDelay: 2 ** 31 } }],
    ['maxRedirects', { maxRedirects: 21 }],
    ['bodyLimit', { bodyLimit: 0 }],
    ['userAgent', { userAgent: 'a\r\nb' }],
    ['apiToken', { apiToken: '' }],
    ['apiToken', { apiToken: undefined as never }],
    ['baseUrl', { baseUrl: 'nonsense' }],
  ];
  test.each(cases)('a wrong %s: %j', (name, options) => {
    expect(() => resolveSettings({ ...base, ...options })).toThrow(ConfigurationError);
    expect(() => resolveSettings({ ...base, ...options })).toThrow(name);
  });

  test('a token that no header can hold, without repeating it', async () => {
    expect(() => resolveSettings({ ...base, apiToken: 'sec\nret' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sec') as never }),
    );
    const settings = resolveSettings({ ...base, apiToken: () => 'ünsafe' });
    await expect(settings.readToken()).rejects.toThrow(ConfigurationError);
  });
});
