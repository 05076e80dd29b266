import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Client } from '../../src/client.ts';
import { describe, expect, test } from '@jest/globals';
import { ApiError, NetworkError, TimeoutError } from '../../src/errors.ts';
import { createTransport } from '../../src/http/transport.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, testSettings, TOKEN } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { sendJson, unusedPort, type Handler } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

const server = useServer();

/** Fails the first `times` requests, and answers the others. */
function flaky(times: number, fail: Handler): Handler {
  let seen = 0;
  return (request, response, message) =>
    seen++ < times ? fail(request, response, message) : sendJson(response, { results: [] });
}

test('refuses another origin by itself', async () => {
  const transport = createTransport(testSettings('https://example.com'));
  const url = new URL('https://other.example.com/v1/events');
  await expect(transport.read({ method: 'GET', url })).rejects.toMatchObject({
    code: 'foreign-origin',
  });
});

describe('a GET is tried again', () => {
  test('after 429, for as long as Retry-After says in seconds', async () => {
    const clock = new TestClock();
    server.answer = flaky(1, (_, response) => sendJson(response, {}, 429, { 'retry-after': '7' }));
    await testClient(server.origin, { clock }).events.list();
    expect(clock.pauses).toEqual([7000]);
    expect(server.requests).toHaveLength(2);
  });

  test('after 503, until the date of Retry-After', async () => {
    const clock = new TestClock();
    const date = new Date(clock.now() + 12_000).toUTCString();
    server.answer = flaky(1, (_, response) => sendJson(response, {}, 503, { 'retry-after': date }));
    await testClient(server.origin, { clock }).events.list();
    expect(clock.pauses).toEqual([12_000]);
  });

  test.each<[string, Handler]>([
    ['500', (_, response) => sendJson(response, {}, 500)],
    ['a connection that breaks', (_, response) => void response.destroy()],
    [
      'an answer that breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"results":', () => response.destroy());
      },
    ],
  ])('after %s', async (_, fail) => {
    const clock = new TestClock();
    server.answer = flaky(2, fail);
    await testClient(server.origin, { clock }).events.list();
    expect(server.requests).toHaveLength(3);
    expect(clock.pauses).toEqual([250, 500]);
  });

  test('until the limit, and then the last error is thrown', async () => {
    server.answer = (_, response) => sendJson(response, {}, 503, { 'x-request-id': 'req-9' });
    const error = await caught(testClient(server.origin, { retries: 2 }).events.list());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 503,
      code: 'server-error',
      requestId: 'req-9',
    });
    expect(server.requests).toHaveLength(3);
  });
});

describe('a write', () => {
  test('is sent once, whatever comes back', async () => {
    server.answer = (_, response) => sendJson(response, {}, 503, { 'retry-after': '1' });
    await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
    server.answer = (_, response) => void response.destroy();
    await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
    expect(server.requests).toHaveLength(2);
  });

  test('is tried again when the connection was refused', async () => {
    const clock = new TestClock();
    const port = await unusedPort();
    const client = testClient(`http://127.0.0.1:${port}`, { clock });
    const error = await caught(client.rules.rotateSigningSecret('r', 'a'));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ maybeSent: false });
    expect(clock.pauses).toEqual([250, 500, 1000]);
    expect(everyPrint(error)).not.toContain(TOKEN);
  });
});

describe('a timeout', () => {
  test('ends the wait for headers', async () => {
    const clock = new TestClock();
    server.answer = () => clock.expire();
    const error = await caught(testClient(server.origin, { clock, retries: 0 }).events.list());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ phase: 'headers', timeout: 30_000 });
  });

  test('ends the wait for the rest of a body', async () => {
    const clock = new TestClock();
    server.answer = (_, response) => {
      response.writeHead(200);
      response.write('{');
    };
    let reads = 0;
    const fetch = async (url: string, init: object): Promise<Response> => {
      const response = await globalThis.fetch(url, init);
      const stream = response.body as ReadableStream<Uint8Array>;
      const reader = stream.getReader();
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const reading = reader.read();
            if (++reads === 2) clock.expire();
            const { value } = await reading;
            if (value) controller.enqueue(value);
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(body, response);
    };
    const error = await caught(
      testClient(server.origin, { clock, retries: 0, fetch }).events.list(),
    );
    expect(error).toMatchObject({ code: 'timeout', phase: 'body' });
  });

  test('ends the wait for a token, and nothing was sent', async () => {
    const clock = new TestClock();
    const apiToken = (): Promise<string> => new Promise(() => undefined);
    const armed = clock.nextTimeout();
    const listing = caught(testClient(server.origin, { clock, apiToken }).events.list());
    await armed;
    clock.expire();
    expect(await listing).toMatchObject({ phase: 'token', maybeSent: false });
    expect(server.requests).toEqual([]);
  });
});

describe('an abort', () => {
  test('ends a request, with its reason', async () => {
    const controller = new AbortController();
    server.answer = () => controller.abort(new Error('enough'));
    const clock = new TestClock();
    const listing = testClient(server.origin, { clock }).events.list({ signal: controller.signal });
    await expect(listing).rejects.toThrow('enough');
    expect(clock.armed).toBe(0);
  });

  test('before the start sends nothing', async () => {
    const signal = AbortSignal.abort(new Error('early'));
    await expect(testClient(server.origin).events.list({ signal })).rejects.toThrow('early');
    expect(server.requests).toEqual([]);
  });
});

/** What is done with the caller's signal, and how it ends. */
const USES: [string, (client: Client, signal: AbortSignal) => Promise<unknown>][] = [
  ['a page', ({ events }, signal) => events.list({ signal })],
  ['the first of many events', ({ events }, signal) => events.iterate({ signal }).next()],
  [
    'a recording that is read',
    async ({ calls }, signal) =>
      new Response((await calls.recording('c', { signal })).body).arrayBuffer(),
  ],
  [
    'a recording that is cancelled',
    async ({ calls }, signal) => (await calls.recording('c', { signal })).body.cancel(),
  ],
  [
    'a rotated secret',
    ({ rules }, signal) => rules.rotateSigningSecret('rule', 'action', { signal }),
  ],
];
const json: Handler = (_, response) =>
  sendJson(response, { results: [], secret: TOKEN }, 200, { 'content-type': 'audio/json-lines' });

const withoutToken = { apiToken: () => Promise.reject(new Error('locked')) };
const ENDS: Record<string, () => Handler> = {
  'was answered': () => json,
  'failed twice, and was answered then': () =>
    flaky(2, (_, response) => sendJson(response, {}, 503)),
  'broke twice, and was answered then': () => flaky(2, (_, response) => void response.destroy()),
  'failed each time': () => (_, response) => sendJson(response, {}, 503),
  'was refused': () => (_, response) => sendJson(response, {}, 403),
  'came as a page of HTML': () => (_, response) =>
    void response.setHeader('content-type', 'text/html').end('<p>'),
  'broke in the middle': () => (_, response) =>
    void response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
  'was never answered': () => () => undefined,
  'had no token': () => json,
};

describe.each(USES)('%s lets go of the signal of its caller', (_what, use) => {
  test.each(Object.keys(ENDS))('once it %s', async (end) => {
    server.answer = ENDS[end]!();
    const clock = new TestClock();
    const options = { clock, retries: 2, ...(end === 'had no token' && withoutToken) };
    const { signal } = new AbortController();
    const used = { isOver: false };
    void use(testClient(server.origin, options), signal)
      .catch(() => undefined)
      .then(() => (used.isOver = true));
    while (!used.isOver) {
      await setImmediate();
      if (end === 'was never answered' && server.requests.length > 0) clock.expire();
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.armed).toBe(0);
  });
});

test('a 2xx answer that cannot be read is an error that does not quote it', async () => {
  server.answer = (_, response) => void response.end('<html>ann@example.com');
  const error = await caught(testClient(server.origin).events.list());
  expect(error).toMatchObject({ code: 'invalid-response' });
  expect(everyPrint(error)).not.toContain('ann@');
  server.answer = (_, response) => sendJson(response, { results: 'none' });
  await expect(testClient(server.origin).events.list()).rejects.toThrow('no array "results"');
});

test.each([
  [33_554_432, { results: [] }],
  [33_554_433, { code: 'invalid-response' }],
])('a 2xx answer has 32 MiB at most: %d bytes', async (length, expected) => {
  const page = Buffer.alloc(length, ' ');
  page.write('{"results":[]}');
  const fetch = () => Promise.resolve(new Response(page));
  const client = testClient(server.origin, { fetch });
  expect(await client.events.list().catch((error: unknown) => error)).toMatchObject(expected);
});
