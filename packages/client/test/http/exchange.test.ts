import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConfigurationError, NetworkError } from '../../src/errors.ts';
import {
  describe as describeRequest,
  endpoint,
  pathSegment,
  redirectTarget,
} from '../../src/http/exchange.ts';
import type { RequestNotice } from '../../src/options.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { type Handler, sendJson, startServer, type TestServer } from '../support/server.ts';

describe('an exchange', () => {
  let home: TestServer;
  let foreign: TestServer;
  let answer: Handler;

  beforeEach(async () => {
    home = await startServer((request, response, message) => answer(request, response, message));
    foreign = await startServer((_, response) =>
      sendJson(response, { results: [{ _id: 'foreign' }] }),
    );
  });
  afterEach(async () => {
    await home.close();
    await foreign.close();
  });

  function redirectTo(target: () => string, status = 302): Handler {
    return (_, response) => void response.writeHead(status, { location: target() }).end();
  }

  test('sends the token in its header, and nowhere else', async () => {
    answer = (_, response) => sendJson(response, { results: [] });
    await testClient(home.origin, { userAgent: 'tests/1' }).events.list({ search: 'x' });
    const [request] = home.requests;
    expect(request).toMatchObject({ method: 'GET', url: '/v1/events?search=x', body: '' });
    expect(request?.headers).toMatchObject({
      'x-api-token': TOKEN,
      'user-agent': 'tests/1',
      accept: 'application/json',
    });
    expect(request?.url).not.toContain(TOKEN);
  });

  describe('a redirect', () => {
    test('on the same origin keeps the token', async () => {
      answer = (request, response) =>
        request.url === '/moved'
          ? sendJson(response, { results: [] })
          : void response.writeHead(307, { location: '/moved' }).end();
      await testClient(home.origin).events.list();
      expect(home.requests.map(({ headers }) => headers['x-api-token'])).toEqual([TOKEN, TOKEN]);
    });

    test.each([301, 302, 303, 307, 308])(
      '%d to another origin goes without the token',
      async (status) => {
        answer = redirectTo(() => `${foreign.origin}/x`, status);
        const page = await testClient(home.origin).events.list();
        expect(page.results).toEqual([{ _id: 'foreign' }]);
        expect(foreign.requests).toHaveLength(1);
        expect(JSON.stringify(foreign.requests)).not.toContain(TOKEN);
      },
    );

    test('that comes back from another origin stays without the token', async () => {
      const back = await startServer(redirectTo(() => `${home.origin}/back`));
      answer = (request, response, message) =>
        request.url === '/back'
          ? sendJson(response, { results: [] })
          : redirectTo(() => back.origin)(request, response, message);
      await testClient(home.origin).events.list();
      expect(home.requests.map(({ headers }) => headers['x-api-token'])).toEqual([
        TOKEN,
        undefined,
      ]);
      await back.close();
    });

    test('is followed a limited number of times', async () => {
      answer = redirectTo(() => '/again');
      const error = await caught(testClient(home.origin).events.list());
      expect(error).toMatchObject({ code: 'redirect' });
      expect(home.requests).toHaveLength(6);
    });

    test('lets go of the connection of each response that it follows', async () => {
      let cancelled = 0;
      const fetch = (url: string): Promise<Response> => {
        if (url.endsWith('/moved')) return Promise.resolve(Response.json({ results: [] }));
        const body = new ReadableStream({
          cancel: () => {
            cancelled++;
          },
        });
        return Promise.resolve(
          new Response(body, { status: 302, headers: { location: '/moved' } }),
        );
      };
      await testClient(home.origin, { fetch }).events.list();
      expect(cancelled).toBe(1);
    });

    test('of a write to another origin is not followed', async () => {
      answer = redirectTo(() => foreign.origin, 307);
      await caught(testClient(home.origin).rules.rotateSigningSecret('r', 'a'));
      expect(foreign.requests).toEqual([]);
    });
  });

  test('onRequest sees every request, and never the token', async () => {
    const notices: RequestNotice[] = [];
    let first = true;
    answer = (request, response, message) => {
      if (first) sendJson(response, {}, 503);
      else return redirectTo(() => foreign.origin)(request, response, message);
      first = false;
    };
    const onRequest = (notice: RequestNotice): void => void notices.push(notice);
    await testClient(home.origin, { onRequest }).events.list();
    const url = `${home.origin}/v1/events`;
    expect(notices).toEqual([
      { method: 'GET', url, attempt: 1, redirects: 0, authenticated: true },
      { method: 'GET', url, attempt: 2, redirects: 0, authenticated: true },
      { method: 'GET', url: `${foreign.origin}/`, attempt: 2, redirects: 1, authenticated: false },
    ]);
    const stop = (): never => {
      throw new Error('not today');
    };
    await expect(testClient(home.origin, { onRequest: stop }).events.list()).rejects.toThrow(
      'not today',
    );
  });

  test('a token provider is asked before every try', async () => {
    let asked = 0;
    answer = (_, response) => sendJson(response, { results: [] }, asked < 2 ? 500 : 200);
    const apiToken = async (): Promise<string> => `token-${++asked}`;
    await testClient(home.origin, { apiToken }).events.list();
    expect(home.requests.map(({ headers }) => headers['x-api-token'])).toEqual([
      'token-1',
      'token-2',
    ]);
    const failing = testClient(home.origin, { apiToken: () => Promise.reject(new Error('vault')) });
    await expect(failing.events.list()).rejects.toThrow('vault');
  });

  test('no error shows the query of a redirect, which may be a signature', async () => {
    answer = redirectTo(() => `${foreign.origin}/x?signature=abc123`);
    const fetch = (url: string, init: object): Promise<Response> =>
      url.startsWith(home.origin)
        ? globalThis.fetch(url, init)
        : Promise.reject(new Error(`cannot get ${url}`));
    const error = await caught(testClient(home.origin, { fetch, retries: 0 }).events.list());
    expect(everyPrint(error)).toContain('cannot get');
    expect(everyPrint(error)).not.toContain('abc123');
  });

  test('no error shows the token or the query, whatever fetch throws', async () => {
    const fetch = (url: string, init: object): Promise<never> =>
      Promise.reject(
        Object.assign(new Error(`cannot get ${url} with ${JSON.stringify(init)}`), {
          config: init,
          cause: Object.assign(new Error(JSON.stringify(init)), { request: init }),
        }),
      );
    const client = testClient(home.origin, { fetch, retries: 0 });
    const error = await caught(client.events.list({ search: 'to:ann@example.com' }));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.cause).toBeInstanceOf(Error);
    const print = everyPrint(error);
    expect(print).not.toContain(TOKEN);
    expect(print).not.toMatch(/ann(@|%40)/);
  });
});

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
  };
  const token = 'tok/1';
  const url = new URL('https://api.example.com/v1/events');

  function follow(
    status: number,
    location: string | undefined,
    method: 'GET' | 'PATCH' = 'GET',
    override: Partial<typeof rules> = {},
  ): string | undefined {
    const headers = location === undefined ? {} : { location };
    const response = new Response(null, { status, headers });
    return redirectTarget(response, { method, url }, url, { ...rules, ...override }, token, 1)
      ?.href;
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
    expect(() => follow(302, '/x', 'PATCH')).toThrow(expect.objectContaining({ code: 'redirect' }));
    expect(() => follow(307, 'https://cdn.example.com/x', 'PATCH')).toThrow(
      expect.objectContaining({ code: 'redirect' }),
    );
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
      expect(() => follow(302, location)).toThrow(expect.objectContaining({ code: 'redirect' }));
      expect(() => follow(302, location)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('example.com/') as never }),
      );
    });

    test('a redirect that the runtime hides', () => {
      const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
      expect(() => redirectTarget(hidden, { method: 'GET', url }, url, rules, token, 1)).toThrow(
        'hides',
      );
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
    expect(() => redirectTarget(response, { method: 'GET', url }, url, rules, token, 1)).toThrow(
      'not https',
    );
    expect(cancelled).toBe(1);
  });

  test('none is followed when none is left', () => {
    const response = new Response(null, { status: 302, headers: { location: '/x' } });
    expect(() => redirectTarget(response, { method: 'GET', url }, url, rules, token, 0)).toThrow(
      'too many',
    );
  });
});
