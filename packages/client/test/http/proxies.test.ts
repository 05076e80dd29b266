import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { proxyNote } from '../../src/http/failure.ts';
import { createClient } from '../../src/index.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { sendJson, unusedPort } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

const variables = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
const dispatcher = Symbol.for('undici.globalDispatcher.1');
const dispatcherBefore: unknown = Reflect.get(globalThis, dispatcher);

function restore(values: Record<string, string | undefined>): void {
  for (const name of variables) {
    if (values[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = values[name];
  }
}

/** As Node makes it with NODE_USE_ENV_PROXY=1. */
class EnvHttpProxyAgent {
  dispatch = () => false;
}
const useProxies = () => Reflect.set(globalThis, dispatcher, new EnvHttpProxyAgent());

beforeEach(() => restore({}));
afterEach(() => {
  restore(before);
  Reflect.set(globalThis, dispatcher, dispatcherBefore);
});

describe('behind a proxy', () => {
  const failure = async () => {
    const cause = Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    const fetch = jest.spyOn(globalThis, 'fetch');
    fetch.mockRejectedValue(new TypeError('fetch failed', { cause }));
    const client = createClient({ baseUrl: 'https://example.com', apiToken: 't', retries: 0 });
    const error = await caught(client.events.list());
    fetch.mockRestore();
    return error;
  };

  test('that fetch ignores, a failure names it and the fix, and no password', async () => {
    process.env['HTTPS_PROXY'] = 'http://ann:hunter2@proxy.example:3128';
    const error = await failure();
    expect(error).toMatchObject({ code: 'network', maybeSent: false });
    expect(error.message).toContain('GET /v1/events: no response');
    expect(error.message).toContain('HTTPS_PROXY names the proxy http://proxy.example:3128');
    expect(error.message).toContain('NODE_USE_ENV_PROXY=1');
    expect(error.message).not.toContain('hunter2');
  });

  test('without variables, a failure has no word about proxies', async () => {
    expect((await failure()).message).toBe('GET /v1/events: no response');
  });

  test('a timeout names it as well', async () => {
    process.env['https_proxy'] = 'http://proxy.example:3128';
    const clock = new TestClock();
    const armed = clock.nextTimeout();
    const fetch = () => (clock.expire(), new Promise<never>(() => undefined));
    const failing = caught(
      testClient('https://api.example.com', { clock, retries: 0, fetch }).events.list(),
    );
    await armed;
    const { message } = await failing;
    expect(message).toContain('waited 30000 ms for a response');
    expect(message).toContain('https_proxy names the proxy http://proxy.example:3128');
    expect(message).toContain('pass a fetch that uses it');
  });

  test('that fetch uses, it is named as the one that got the request', () => {
    process.env['HTTPS_PROXY'] = 'http://proxy.example:3128';
    useProxies();
    const note = proxyNote(new URL('https://api.example.com/v1/events'));
    expect(note).toContain('http://proxy.example:3128, which received the request');
    expect(note).toContain('allows api.example.com');
  });

  test('a request to this machine says how to keep it away from the proxy', async () => {
    process.env['http_proxy'] = 'http://proxy.example:3128';
    const url = `http://127.0.0.1:${await unusedPort()}`;
    const list = () =>
      caught(createClient({ baseUrl: url, apiToken: 't', retries: 0 }).events.list());
    // Node does not use the proxy: it has nothing to do with the failure.
    expect((await list()).message).toBe('GET /v1/events: no response');
    useProxies();
    expect(proxyNote(new URL(url))).toContain('add 127.0.0.1 to NO_PROXY');
  });

  test.each(variables.filter((name) => !/no/i.test(name)))(
    '%s alone is named for https, and one of http for http alone',
    (name) => {
      process.env[name] = 'http://proxy.example:3128';
      const named = `. ${name} names the proxy http://proxy.example:3128, but`;
      expect(proxyNote(new URL('https://api.example.com/'))).toContain(named);
      const isOfHttp = /^http_/i.test(name);
      expect(proxyNote(new URL('http://api.example.com/')).includes(named)).toBe(isOfHttp);
    },
  );

  test('of several, the one of the protocol is named, in lower case before capitals', () => {
    const order = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
    for (const name of order) process.env[name] = `http://${name.replace('_', '-')}.example`;
    for (const name of order) {
      expect(proxyNote(new URL('https://api.example.com/'))).toContain(`. ${name} names`);
      Reflect.deleteProperty(process.env, name);
    }
  });

  describe.each(['NO_PROXY', 'no_proxy'])('%s', (exceptions) => {
    test.each([
      ['*', false],
      ['api.example.com', false],
      ['other.example,.example.com', false],
      ['*.example.com', false],
      ['example.com', false],
      ['api.example.com:443', false],
      ['ample.com', true],
      ['', true],
      ['other.example api.example.com', false],
    ])('as "%s": the proxy is named is %p', (list, named) => {
      process.env['HTTPS_PROXY'] = 'http://proxy.example:3128';
      process.env[exceptions] = list;
      const note = proxyNote(new URL('https://api.example.com/v1/events'));
      expect(note !== '').toBe(named);
    });
  });

  test.each([
    ['hunter2', '(not a URL)'],
    ['ann:hunter2@proxy.example:3128', '(not a URL)'],
    ['socks5://ann:hunter2@proxy.example:1080', 'socks5://proxy.example:1080'],
  ])('of %s, the password is not shown', (value, shown) => {
    process.env['HTTP_PROXY'] = value;
    const note = proxyNote(new URL('https://api.example.com/'));
    expect(note).toContain(`HTTP_PROXY names the proxy ${shown}`);
    expect(note).not.toContain('hunter2');
  });
});

describe('a status that is about this side', () => {
  const server = useServer();
  const failure = async (status: number) => {
    server.answer = (_, response) => sendJson(response, {}, status);
    return caught(testClient(server.origin, { retries: 0 }).events.list());
  };

  test('401 says that the token is wrong, and where it is set', async () => {
    const error = await failure(401);
    expect(error).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(error.message).toBe(
      'GET /v1/events responded with status 401: the API token (the option apiToken) is wrong, or is no longer valid',
    );
  });

  test('401 of another origin says that it does not get the token', async () => {
    server.answer = ({ url }, response) =>
      url.startsWith('/v1')
        ? void response
            .writeHead(302, { location: server.origin.replace('127.0.0.1', 'localhost') })
            .end()
        : sendJson(response, {}, 401);
    const error = await caught(testClient(server.origin).events.list());
    expect(error.message).toContain('another origin, which does not get the API token');
  });

  test('a token that is missing is told before anything is sent', () => {
    expect(() => createClient({ baseUrl: 'https://example.com', apiToken: '' })).toThrow(
      'apiToken is missing',
    );
  });
});
