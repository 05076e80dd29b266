import { describe, expect, test } from '@jest/globals';
import { ConfigurationError, RedirectError } from '../../src/errors/index.ts';
import { redirectTarget } from '../../src/http/redirects.ts';
import { describe as describeRequest, endpoint, pathSegment } from '../../src/http/request.ts';

describe('request', () => {
  test('an id stays one segment of the path', () => {
    expect(pathSegment('callId', 'a/b?c#d %2e')).toBe('a%2Fb%3Fc%23d%20%252e');
  });

  test.each(['', '.', '..', '\ud800', undefined, 5])('%j is no id', (id) => {
    expect(() => pathSegment('callId', id)).toThrow(ConfigurationError);
  });

  test('an endpoint keeps the path of the base URL, and leaves undefined parameters out', () => {
    const query = { search: 'to:a&b', next: undefined, limit: 5 };
    expect(endpoint(new URL('https://example.com'), '/events', query).href).toBe(
      'https://example.com/v1/events?search=to%3Aa%26b&limit=5',
    );
    expect(endpoint(new URL('https://example.com/api'), '/calls').href).toBe(
      'https://example.com/api/v1/calls',
    );
  });

  test('errors name a request without its query', () => {
    const url = new URL('https://example.com/v1/events?search=to:ann@example.com');
    expect(describeRequest({ method: 'GET', url })).toBe('GET /v1/events');
  });
});

describe('redirects', () => {
  const rules = {
    baseUrl: new URL('https://api.example.com'),
    allowInsecure: false,
    token: 'tok/1',
  };
  const url = new URL('https://api.example.com/v1/events');

  function follow(
    status: number,
    location: string | undefined,
    method: 'GET' | 'PATCH' = 'GET',
    override: Partial<typeof rules> = {},
  ): string | undefined {
    const headers = location === undefined ? {} : { location };
    const response = new Response(null, { status, headers });
    return redirectTarget(response, { method, url }, url, { ...rules, ...override }, 1)?.href;
  }

  test.each([301, 302, 303, 307, 308])('a GET is followed on %d', (status) => {
    expect(follow(status, '/v2/events?a=1')).toBe('https://api.example.com/v2/events?a=1');
    expect(follow(status, 'https://cdn.example.com/x')).toBe('https://cdn.example.com/x');
  });

  test('what is no redirect is not followed', () => {
    expect(follow(200, '/x')).toBeUndefined();
    expect(follow(304, '/x')).toBeUndefined();
    expect(follow(302, undefined)).toBeUndefined();
  });

  test('a write is followed on 307 and 308, on its own origin', () => {
    expect(follow(307, '/x', 'PATCH')).toBe('https://api.example.com/x');
    expect(follow(308, '/x', 'PATCH')).toBe('https://api.example.com/x');
    expect(() => follow(302, '/x', 'PATCH')).toThrow(RedirectError);
    expect(() => follow(307, 'https://cdn.example.com/x', 'PATCH')).toThrow(RedirectError);
  });

  describe('is refused', () => {
    test.each([
      ['plain http', 'http://api.example.com/x'],
      ['plain http to loopback', 'http://127.0.0.1/x'],
      ['another scheme', 'ftp://api.example.com/x'],
      ['credentials', 'https://user:pass@api.example.com/x'],
      ['a token in it', 'https://cdn.example.com/?t=tok/1'],
      ['an encoded token in it', 'https://cdn.example.com/?t=tok%2F1'],
      ['no URL', 'https://'],
    ])('a target with %s', (_, location) => {
      expect(() => follow(302, location)).toThrow(RedirectError);
      expect(() => follow(302, location)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('example.com/') as never }),
      );
    });

    test('a redirect that the runtime hides', () => {
      const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
      expect(() => redirectTarget(hidden, { method: 'GET', url }, url, rules, 1)).toThrow('hides');
    });
  });

  test('plain http is followed where it was allowed', () => {
    expect(follow(302, 'http://cdn.example.com/x', 'GET', { allowInsecure: true })).toBeDefined();
  });

  test('a redirect that is not followed lets go of its connection', () => {
    let cancelled = 0;
    const body = new ReadableStream({
      cancel() {
        cancelled++;
      },
    });
    const headers = { location: 'ftp://example.com' };
    const response = new Response(body, { status: 302, headers });
    expect(() => redirectTarget(response, { method: 'GET', url }, url, rules, 1)).toThrow(
      'not https',
    );
    expect(cancelled).toBe(1);
  });

  test('none is followed when none is left', () => {
    const response = new Response(null, { status: 302, headers: { location: '/x' } });
    expect(() => redirectTarget(response, { method: 'GET', url }, url, rules, 0)).toThrow(
      'too many',
    );
  });
});
