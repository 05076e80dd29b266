import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import { isLoopback, isSafeTransport, parseBaseUrl } from '../src/options.ts';
import { createClient } from '../src/client.ts';
import { ConfigurationError } from '../src/errors.ts';
import * as main from '../src/index.ts';
import type { ClientOptions } from '../src/options.ts';
import { resolveSettings, version } from '../src/options.ts';
import { defaultWireNames } from '../src/options.ts';
import { caught } from './support/caught.ts';
import { testClient, TOKEN } from './support/client.ts';
import { sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

describe('client', () => {
  test('the client shows its token to nobody who prints it', () => {
    const client = createClient({ baseUrl: 'https://example.com', apiToken: 'secret-token' });
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain('secret-token');
    expect(JSON.stringify(client)).not.toContain('secret-token');
    expect(Object.isFrozen(client)).toBe(true);
    expect(Object.keys(client)).toEqual(['baseUrl', 'events', 'calls', 'recordings', 'rules']);
  });

  test.each([
    ['https://example.com/v1', 'https://example.com'],
    ['https://example.com/v1/', 'https://example.com'],
    ['https://example.com/calls/v1', 'https://example.com/calls'],
    ['https://example.com/api/v10', 'https://example.com/api/v10'],
  ])('%s is the base URL %s', async (given, baseUrl) => {
    const requested: string[] = [];
    const fetch = (url: string) => {
      requested.push(url);
      return Promise.resolve(new Response('RIFF', { headers: { 'content-type': 'audio/wav' } }));
    };
    const client = createClient({ baseUrl: given, apiToken: 'a', fetch: fetch });
    expect(client.baseUrl).toBe(baseUrl);
    const recordingUrl = `${baseUrl}/v1/calls/c1/recording`;
    await client.recordings.ofCall('c1');
    await client.recordings.fromEvent({ recordingUrl });
    expect(requested.map(String)).toEqual([recordingUrl, recordingUrl]);
  });

  test('plain http is for loopback, or when asked for', () => {
    const apiToken = 'secret-token';
    expect(() => createClient({ baseUrl: 'http://example.com', apiToken })).toThrow(
      ConfigurationError,
    );
    expect(() =>
      createClient({ baseUrl: 'http://example.com', apiToken, allowInsecure: true }),
    ).not.toThrow();
    expect(() => createClient({ baseUrl: 'http://localhost:1', apiToken })).not.toThrow();
  });
});

describe('index', () => {
  test('exports these values', () => {
    expect(Object.keys(main).sort()).toEqual([
      'ACTIVITY_ACTIONS',
      'ApiError',
      'ClientError',
      'ConfigurationError',
      'NetworkError',
      'SearchSyntaxError',
      'TimeoutError',
      'UnconfirmedWriteError',
      'createClient',
      'defaultWireNames',
      'isActivityAction',
      'liveSecrets',
      'parseEventSearch',
      'replaceFile',
      'searchText',
      'secretsFrom',
      'systemClock',
      'version',
    ]);
  });
});

describe('version', () => {
  test('is the version of the manifest', () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    expect(version).toBe((JSON.parse(manifest) as { version: string }).version);
  });
});

describe('settings', () => {
  const base = { baseUrl: 'https://example.com', apiToken: 'secret-token' };

  test('fills in the defaults', async () => {
    const settings = resolveSettings(base);
    expect(settings).toMatchObject({
      timeout: 30_000,
      retry: { limit: 3, baseDelay: 500, maxDelay: 20_000, maxRetryAfter: 60_000 },
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
      wire: { nextParam: 'cursor', nextField: undefined },
    });
    expect(settings.retry.limit).toBe(0);
    expect(settings.wire).toMatchObject({ nextParam: 'cursor', nextField: 'next' });
  });

  test('undefined means that an option is not given, and a missing one is named', () => {
    const given = {
      ...{ fetch: undefined, timeout: undefined, retries: undefined, userAgent: undefined },
      ...{ onRequest: undefined, allowInsecure: undefined, wire: undefined, clock: undefined },
    } satisfies Partial<ClientOptions>;
    const { fetch: _one, ...settings } = resolveSettings({ ...base, ...given });
    const { fetch: _other, ...defaults } = resolveSettings(base);
    expect(settings).toEqual({ ...defaults, readToken: expect.any(Function) });
    const unset = process.env['CALL_WEBHOOKS_TEST_UNSET'];
    const { baseUrl, apiToken } = base;
    expect(() => createClient({ baseUrl: unset, apiToken })).toThrow('baseUrl is missing.');
    expect(() => createClient({ baseUrl, apiToken: unset })).toThrow('apiToken is missing.');
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
      ['userAgent', { userAgent: 'a\r\nb' }],
      ['apiToken', { apiToken: '' }],
      ['apiToken', { apiToken: undefined }],
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

describe('calls', () => {
  const server = useServer();

  test('lists and iterates call records as they come', async () => {
    server.answer = ({ url }, response) =>
      url.includes('next=2')
        ? sendJson(response, { results: [{ _id: 'c2' }] })
        : sendJson(response, { results: [{ _id: 'c1', anything: [1] }], next: '2' });
    const { calls } = testClient(server.origin);
    const page = await calls.list({
      query: { userId: 'u', skip: undefined, recorded: true, from: 0, all: false, tag: '' },
      limit: 1,
    });
    expect(page).toMatchObject({
      results: [{ _id: 'c1', anything: [1] }],
      next: '2',
      hasNext: true,
    });
    expect(server.requests[0]?.url).toBe(
      '/v1/calls?userId=u&recorded=true&from=0&all=false&tag=&limit=1',
    );
    const ids: string[] = [];
    for await (const { _id } of calls.iterate()) ids.push(_id);
    expect(ids).toEqual(['c1', 'c2']);
  });

  test('the records may stand in another field', async () => {
    server.answer = (_, response) => sendJson(response, { calls: [{ _id: 'c1' }] });
    const page = await testClient(server.origin, { wire: { callsField: 'calls' } }).calls.list();
    expect(page.results).toEqual([{ _id: 'c1' }]);
  });

  test('an unknown list shape names the setting and the field that fits', async () => {
    server.answer = (_, response) => sendJson(response, { data: { calls: [{ _id: 'c1' }] } });
    const error = await caught(testClient(server.origin).calls.list());
    expect(error).toMatchObject({ code: 'invalid-response' });
    expect(error.message).toContain('Set wire.callsField');
    expect(error.message).toContain('"data.calls"');
    const events = await caught(testClient(server.origin).events.list());
    expect(events.message).toBe('GET /v1/events: the response has no array "results"');
  });

  test('pages are followed by the Link header', async () => {
    server.answer = ({ url }, response) =>
      url.includes('next=2')
        ? sendJson(response, { results: [{ _id: 'c2' }] })
        : sendJson(response, { results: [{ _id: 'c1' }] }, 200, {
            link: '</v1/calls?next=2>; rel="next"',
          });
    const ids: string[] = [];
    for await (const { _id } of testClient(server.origin).calls.iterate()) ids.push(_id);
    expect(ids).toEqual(['c1', 'c2']);
  });

  test('a recording is a stream with its type and length', async () => {
    server.answer = (_, response) => {
      response.writeHead(200, {
        'content-type': 'audio/mpeg',
        'content-length': '5',
        etag: '"v1"',
      });
      response.end('sound');
    };
    const recording = await testClient(server.origin).calls.recording('call/1');
    expect(recording).toMatchObject({ contentType: 'audio/mpeg', contentLength: 5, etag: '"v1"' });
    await expect(new Response(recording.body).text()).resolves.toBe('sound');
    expect(server.requests[0]).toMatchObject({ url: '/v1/calls/call%2F1/recording' });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-token': TOKEN,
      'accept-encoding': 'identity',
    });
  });

  test('a recording that is not there, and an id that is none', async () => {
    server.answer = (_, response) => sendJson(response, {}, 404);
    const { calls } = testClient(server.origin);
    expect(await caught(calls.recording('c'))).toMatchObject({ code: 'not-found', status: 404 });
    expect(await caught(calls.recording('..'))).toBeInstanceOf(ConfigurationError);
    expect(server.requests).toHaveLength(1);
  });
});
