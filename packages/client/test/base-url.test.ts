import { describe, expect, test } from '@jest/globals';
import { isLoopback, isSafeTransport, parseBaseUrl } from '../src/base-url.ts';
import { ConfigurationError } from '../src/errors/index.ts';

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
