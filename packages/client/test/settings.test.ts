import { describe, expect, jest, test } from '@jest/globals';
import { isLoopback, isSafeTransport, parseBaseUrl } from '../src/base-url.ts';
import { ConfigurationError } from '../src/errors/index.ts';
import type { ClientOptions } from '../src/options.ts';
import { resolveSettings } from '../src/settings.ts';
import { version } from '../src/settings.ts';
import { defaultWireNames } from '../src/wire.ts';

describe('settings', () => {
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
});

describe('base-url', () => {
  test.each(['localhost', '127.0.0.1', '127.1', '0x7f.1', '[::1]'])('%s is loopback', (host) => {
    expect(isLoopback(new URL(`http://${host}:80/`))).toBe(true);
  });

  test.each([
    'localhost.example.com',
    'app.localhost',
    '127.0.0.1.example.com',
    '128.0.0.1',
    '0.0.0.0',
    '[::2]',
  ])('%s is not loopback', (host) => {
    expect(isLoopback(new URL(`http://${host}/`))).toBe(false);
  });

  test('only https, or http to loopback or on request, is safe', () => {
    expect(isSafeTransport(new URL('https://example.com'), false)).toBe(true);
    expect(isSafeTransport(new URL('http://example.com'), false)).toBe(false);
    expect(isSafeTransport(new URL('http://example.com'), true)).toBe(true);
    expect(isSafeTransport(new URL('ftp://localhost'), true)).toBe(false);
  });

  describe('parseBaseUrl', () => {
    test('keeps a path and drops the trailing slashes', () => {
      expect(parseBaseUrl('https://example.com/api//', false).href).toBe('https://example.com/api');
      expect(parseBaseUrl(new URL('http://localhost:8080'), false).origin).toBe(
        'http://localhost:8080',
      );
    });

    test.each([
      ['example.com', 'absolute URL'],
      ['ftp://example.com', 'https URL'],
      ['http://example.com', 'plain http'],
      ['https://user:pass@example.com', 'credentials'],
      ['https://example.com/?a=1', 'query'],
      ['https://example.com/#a', 'fragment'],
    ])('refuses %s', (url, reason) => {
      expect(() => parseBaseUrl(url, false)).toThrow(ConfigurationError);
      expect(() => parseBaseUrl(url, false)).toThrow(reason);
    });

    test('takes plain http when that was allowed', () => {
      expect(parseBaseUrl('http://example.com', true).host).toBe('example.com');
    });
  });
});

describe('wire', () => {
  test('the default webhook action has a payload only when there is one', () => {
    const { webhookAction } = defaultWireNames;
    const url = 'https://receiver.example.com/hook';
    expect(webhookAction({ url })).toEqual({ type: 'webhook', url });
    expect(webhookAction({ url, payload: { a: 1 } })).toEqual({
      type: 'webhook',
      url,
      payload: { a: 1 },
    });
  });
});
