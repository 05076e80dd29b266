import { describe, expect, jest, test } from '@jest/globals';
import { createClient } from '../src/client.ts';
import { ConfigurationError } from '../src/errors.ts';
import { type ClientOptions, type Fetch, version } from '../src/options.ts';
import { secretsFrom } from '../src/rotate-into.ts';
import { caught } from './support/caught.ts';
import { testClient } from './support/client.ts';
import { TestClock, TIMEOUT } from './support/clock.ts';
import { TestStore } from './support/secret-store.ts';
import { type Handler, sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

const LONGEST = 2_147_483_647;
const required = { baseUrl: 'https://api.example.com', apiToken: 't' };

describe('the limits of an option', () => {
  const times = (name: 'baseDelay' | 'maxDelay' | 'maxRetryAfter') => ({
    name: `retries.${name}`,
    options: (value: unknown) => ({ retries: { [name]: value } }) as Partial<ClientOptions>,
    range: [0, LONGEST] as const,
  });

  test.each<{
    name: string;
    options: (value: unknown) => Partial<ClientOptions>;
    range: readonly [number, number];
  }>([
    {
      name: 'timeout',
      options: (timeout) => ({ timeout }) as Partial<ClientOptions>,
      range: [1, LONGEST],
    },
    {
      name: 'retries.limit',
      options: (retries) => ({ retries }) as Partial<ClientOptions>,
      range: [0, 100],
    },
    {
      name: 'retries.limit',
      options: (limit) => ({ retries: { limit } }) as Partial<ClientOptions>,
      range: [0, 100],
    },
    ...(['baseDelay', 'maxDelay', 'maxRetryAfter'] as const).map(times),
  ])('$name: $range', ({ name, options, range: [least, most] }) => {
    for (const value of [least, most, undefined])
      expect(() => createClient({ ...required, ...options(value) })).not.toThrow();
    for (const value of [least - 1, most + 1, least + 0.5, NaN, Infinity, String(least)]) {
      const create = () => createClient({ ...required, ...options(value) });
      // A text in place of the number of retries is not an object of options either.
      if (typeof value === 'string' && options(value).retries === value) continue;
      expect(create).toThrow(ConfigurationError);
      expect(create).toThrow(`${name} must be a whole number from ${least} to ${most}`);
    }
  });

  test.each([
    ['fetch', { fetch: 'fetch' as never }, 'fetch must be a function'],
    ['userAgent', { userAgent: '' }, 'userAgent must be a non-empty line of ASCII text'],
    ['userAgent', { userAgent: 'ü' }, 'userAgent must be a non-empty line of ASCII text'],
    ['apiToken', { apiToken: 'a b' }, 'apiToken must be a string of visible ASCII characters'],
    ['apiToken', { apiToken: 5 as never }, 'apiToken must be a string of visible ASCII'],
    ['apiToken', { apiToken: '' }, 'apiToken is missing. Is its environment variable set?'],
    ['baseUrl', { baseUrl: '' }, 'baseUrl is missing. Is its environment variable set?'],
  ])('%s: %j is refused', (_name, options, message) => {
    expect(() => createClient({ ...required, ...options })).toThrow(message);
  });

  test.each(['', undefined])('a token function that returns %p: nothing is sent', async (token) => {
    const fetch = jest.fn<Fetch>();
    const client = createClient({ ...required, apiToken: () => token, fetch });
    const error = await caught(client.events.list());
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain('apiToken is missing');
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('what an option changes', () => {
  const server = useServer((_, response) => sendJson(response, { results: [] }));
  const failing: Handler = (_, response) => sendJson(response, {}, 503);

  test.each([
    ['by default', undefined, `call-webhooks-client/${version}`],
    ['as it is set', 'mine/2', 'mine/2'],
  ])('userAgent %s', async (_what, userAgent, sent) => {
    await testClient(server.origin, { userAgent }).events.list();
    expect(server.requests[0]!.headers['user-agent']).toBe(sent);
  });

  test.each([
    ['three by default', undefined, 4],
    ['none', 0, 1],
    ['as many as are set', { limit: 5 }, 6],
  ])('retries: %s', async (_what, retries, requests) => {
    server.answer = failing;
    await caught(testClient(server.origin, { retries }).events.list());
    expect(server.requests).toHaveLength(requests);
  });

  test('retries: the backoff begins at baseDelay, doubles, and ends at maxDelay', async () => {
    server.answer = failing;
    const clock = new TestClock();
    const retries = { limit: 5, baseDelay: 100, maxDelay: 700 };
    await caught(testClient(server.origin, { clock, retries }).events.list());
    expect(clock.pauses).toEqual([50, 100, 200, 350, 350]);
  });

  test.each([
    [60, undefined, [60_000]],
    [61, undefined, []],
    [5, 5_000, [5_000]],
    [5, 4_999, []],
    [0, 0, [0]],
  ])(
    'retries: Retry-After %d with maxRetryAfter %p ms is waited for: %j',
    async (asked, maxRetryAfter, pauses) => {
      server.answer = (_, response) =>
        sendJson(response, {}, 429, { 'retry-after': String(asked) });
      const clock = new TestClock();
      const retries = { limit: 1, maxRetryAfter };
      const error = await caught(testClient(server.origin, { clock, retries }).events.list());
      expect(error).toMatchObject({ code: 'rate-limited', retryAfter: asked });
      expect(clock.pauses).toEqual(pauses);
    },
  );

  test.each([
    ['token', 'the API token', false],
    ['headers', 'a response', true],
    ['body', 'more of the response', true],
  ] as const)('timeout: the wait for the %s', async (phase, what, maybeSent) => {
    const clock = new TestClock();
    const ends = () => queueMicrotask(() => clock.expire());
    server.answer = (_, response) => {
      if (phase === 'body')
        response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      if (phase === 'headers') ends();
    };
    const apiToken = () => {
      if (phase !== 'token') return 't';
      ends();
      return new Promise<string>(() => undefined);
    };
    const client = testClient(server.origin, { clock, apiToken, retries: 0 });
    const listing = caught(client.events.list());
    if (phase === 'body') {
      while (server.requests.length === 0) await clock.nextTimeout();
      await clock.nextTimeout();
      ends();
    }
    const error = await listing;
    expect(error).toMatchObject({ code: 'timeout', phase, timeout: TIMEOUT, maybeSent });
    expect(error.message).toBe(`GET /v1/events: waited ${TIMEOUT} ms for ${what}`);
  });

  test('wire.requestIdHeader: where the id of a request is', async () => {
    server.answer = (_, response) =>
      sendJson(response, {}, 400, { 'x-request-id': 'one', 'x-trace': 'two' });
    const ask = (wire = {}) => caught(testClient(server.origin, { wire }).events.list());
    expect(await ask()).toMatchObject({ requestId: 'one' });
    expect(await ask({ requestIdHeader: 'x-trace' })).toMatchObject({ requestId: 'two' });
    expect(await ask({ requestIdHeader: 'x-none' })).toMatchObject({ requestId: undefined });
  });

  test('five redirects are followed', async () => {
    server.answer = ({ url }, response) => {
      const step = Number(/step=(\d)/.exec(url)?.[1] ?? 0);
      if (step === 5) sendJson(response, { results: [{ _id: 'there' }] });
      else response.writeHead(302, { location: `/v1/events?step=${step + 1}` }).end();
    };
    const { results } = await testClient(server.origin).events.list();
    expect(results).toEqual([{ _id: 'there' }]);
    expect(server.requests).toHaveLength(6);
  });

  test('only a write has a content type and a body', async () => {
    const { events, rules } = testClient(server.origin);
    await events.list();
    await caught(rules.rotateSigningSecret('r', 'a'));
    const sent = server.requests.map(({ method, headers, body }) => [
      ...[method, headers['content-type'], body, headers.accept],
    ]);
    expect(sent).toEqual([
      ['GET', undefined, '', 'application/json'],
      ['PATCH', 'application/json', '{"rotateSigningSecret":true}', 'application/json'],
    ]);
  });
});

describe('rotateInto and secretsFrom', () => {
  const first = { id: 'first', secret: 'whsec_Zmlyc3Q=', actionId: 'a' };
  const action = { ruleId: 'r', actionId: 'a' };
  const server = useServer((_, response) => sendJson(response, { secret: 'whsec_bmV3' }));

  test.each([
    [undefined, 600_000],
    [0, 0],
    [1, 1],
    [86_400_000, 86_400_000],
  ])('an overlap of %p: the old secret lives for %d ms', async (overlap, ms) => {
    const clock = new TestClock();
    const store = new TestStore(first);
    await testClient(server.origin, { clock }).rules.rotateInto(store, { ...action, overlap });
    expect(store.secrets[1]).toEqual({ ...first, expiresAt: clock.now() + ms });
  });

  test.each([-1, NaN, Infinity])(
    'an overlap of %p is refused, and nothing is sent',
    async (overlap) => {
      const store = new TestStore(first);
      const { rules } = testClient(server.origin);
      const error = await caught(rules.rotateInto(store, { ...action, overlap }));
      expect(error.message).toContain('overlap must be a number of milliseconds, 0 or more');
      expect(server.requests).toEqual([]);
    },
  );

  test('a store that fails gets three attempts to save, and no more', async () => {
    const clock = new TestClock();
    const store = new TestStore(first);
    store.beforeSave = (number) => {
      if (number > 1) throw new Error('full');
    };
    const error = await caught(
      testClient(server.origin, { clock }).rules.rotateInto(store, action),
    );
    expect(error).toMatchObject({ code: 'secret-not-saved', operation: 'rotate-signing-secret' });
    expect(error.response).toEqual({ secret: 'whsec_bmV3' });
    expect(store.saves).toHaveLength(1 + 3);
    expect(clock.pauses).toEqual([250, 500]);
  });

  test('two rotations at one time have ids of their own, with a number', async () => {
    const clock = new TestClock();
    const store = new TestStore(first);
    const at = new Date(clock.now()).toISOString();
    const { rules } = testClient(server.origin, { clock });
    let number = 0;
    server.answer = (_, response) => sendJson(response, { secret: `whsec_bmV3${++number}` });
    for (let rotation = 0; rotation < 3; rotation++) await rules.rotateInto(store, action);
    expect(store.secrets.map(({ id }) => id)).toEqual([
      `a@${at}-3`,
      `a@${at}-2`,
      `a@${at}`,
      'first',
    ]);
  });

  test('by default, secrets end by the clock of the machine', async () => {
    const [past, coming] = [Date.now() - 1, Date.now() + 60_000];
    const store = new TestStore(
      { ...first, expiresAt: past },
      { ...first, id: 'b', expiresAt: coming },
    );
    expect(await secretsFrom(store)()).toEqual([{ id: 'b', secret: first.secret }]);
  });

  test('only a receiver that asks again waits for a rotation; the others get the secrets at once', async () => {
    const store = new TestStore(first);
    const provider = secretsFrom(store);
    const seen: unknown[] = [];
    server.answer = async (_, response) => {
      for (const request of [undefined, {}, { refresh: false }]) seen.push(await provider(request));
      sendJson(response, { secret: 'whsec_bmV3' });
    };
    const { rules } = testClient(server.origin, { clock: undefined });
    await rules.rotateInto(store, action);
    const { id, secret } = first;
    expect(seen).toEqual([[{ id, secret }], [{ id, secret }], [{ id, secret }]]);
  });

  test('a rotation that fails does not hold up the next one, nor the receivers', async () => {
    const store = new TestStore(first);
    const { rules } = testClient(server.origin);
    store.failLoad = new Error('down');
    await expect(rules.rotateInto(store, action)).rejects.toThrow('down');
    store.failLoad = undefined;
    expect(await secretsFrom(store)({ refresh: true })).toHaveLength(1);
    await expect(rules.rotateInto(store, action)).resolves.toHaveProperty('current');
  });
});
