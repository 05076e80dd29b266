import { describe, expect, test } from '@jest/globals';
import type { Clock } from '../../src/clock.ts';
import {
  ApiError,
  ConfigurationError,
  InvalidResponseError,
  RedirectError,
} from '../../src/errors/index.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { TIMEOUT } from '../support/clock.ts';
import { sendJson } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

const server = useServer((_, response) => sendJson(response, { results: [] }));

const nested = (depth: number, inner: string): string =>
  '['.repeat(depth) + inner + ']'.repeat(depth);

describe('an answer nested very deep', () => {
  test('with an error status is that error', async () => {
    const body = nested(30_000, `"${TOKEN}"`);
    server.answer = (_, response) => void response.writeHead(400).end(body);
    const error = await caught(testClient(server.origin).events.list());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error['body'])).not.toContain(TOKEN);
  });

  test('still gives its secret', async () => {
    server.answer = (_, response) => void response.end(nested(200_000, '"whsec_QUJD"'));
    const rotated = await testClient(server.origin).rules.rotateSigningSecret('r', 'a');
    expect(rotated.secret).toBe('whsec_QUJD');
  });
});

test.each([[[null]], [['text']], [[{ _id: 'e' }, 7]], [[[]]]])(
  'results %j are not records',
  async (results) => {
    server.answer = (_, response) => sendJson(response, { results });
    const error = await caught(testClient(server.origin).events.list());
    expect(error).toBeInstanceOf(InvalidResponseError);
  },
);

test('an error answer that drips does not hold its status back for longer than one timeout', async () => {
  // Time passes with each piece: no single wait is longer than the timeout.
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const clock: Clock = {
    now: () => now,
    schedule(delay, run) {
      const timer = { at: now + delay, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  let pieces = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    now += TIMEOUT * 0.6;
    for (const timer of [...timers]) if (timer.at <= now) timer.run();
    if (++pieces < 100) controller.enqueue(new Uint8Array([0x20]));
    else controller.close();
  };
  const fetch = async (): Promise<Response> =>
    new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status: 403 });
  const error = await caught(testClient(server.origin, { clock, fetch }).events.list());
  expect(error).toMatchObject({ code: 'forbidden' });
  expect(pieces).toBeLessThan(4);
});

test('a token that is cut off with an overlong error answer is not kept in part', async () => {
  const filler = 'x'.repeat(65_536 - TOKEN.length / 2);
  server.answer = (_, response) => void response.writeHead(400).end(`${filler}${TOKEN}`);
  const error = await caught(testClient(server.origin).events.list());
  expect(error).toMatchObject({ status: 400 });
  expect(String(error['body'])).not.toContain(TOKEN.slice(0, 5));
});

test('a fetch that follows redirects by itself is found out', async () => {
  server.answer = (request, response) =>
    request.url === '/moved'
      ? sendJson(response, { results: [] })
      : void response.writeHead(302, { location: '/moved' }).end();
  const fetch = (url: string, init: object): Promise<Response> =>
    globalThis.fetch(url, { ...init, redirect: 'follow' });
  const error = await caught(testClient(server.origin, { fetch }).events.list());
  expect(error).toBeInstanceOf(RedirectError);
  expect(error.message).toContain('fetch');
  expect(everyPrint(error)).not.toContain(TOKEN);
});

describe('refused before anything is sent', () => {
  test.each([0, -1, 1.5, NaN, '5' as never])('limit %p', async (limit) => {
    const client = testClient(server.origin);
    expect(await caught(client.events.list({ limit }))).toBeInstanceOf(ConfigurationError);
    expect(await caught(client.calls.list({ limit }))).toBeInstanceOf(ConfigurationError);
    expect(server.requests).toEqual([]);
  });

  test('a payload that is no JSON', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const payload of [circular, 1n, () => undefined]) {
      const adding = testClient(server.origin).rules.addWebhook('r', {
        url: 'https://example.com/hook',
        payload,
      });
      expect(await caught(adding)).toBeInstanceOf(ConfigurationError);
    }
    expect(server.requests).toEqual([]);
  });

  test('what an asynchronous onRequest rejects with', async () => {
    const onRequest = () => Promise.reject(new Error('not today'));
    await expect(testClient(server.origin, { onRequest }).events.list()).rejects.toThrow(
      'not today',
    );
    expect(server.requests).toEqual([]);
  });
});
