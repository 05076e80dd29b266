import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startServer, sendJson, type Handler, type TestServer } from '../support/server.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { NetworkError, RedirectError } from '../../src/errors/index.ts';
import type { RequestNotice } from '../../src/options.ts';

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
    expect(home.requests.map(({ headers }) => headers['x-api-token'])).toEqual([TOKEN, undefined]);
    await back.close();
  });

  test('is followed a limited number of times', async () => {
    answer = redirectTo(() => '/again');
    const error = await caught(testClient(home.origin, { maxRedirects: 2 }).events.list());
    expect(error).toBeInstanceOf(RedirectError);
    expect(home.requests).toHaveLength(3);
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
