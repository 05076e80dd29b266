import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Client } from '../../src/client.ts';
import { createDeadline, type Clock } from '../../src/clock.ts';
import { ApiError, ConfigurationError } from '../../src/errors.ts';
import { checkedBody, hasBegun, readText } from '../../src/http/body.ts';
import { createRedact } from '../../src/http/failure.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';
import { path, useDownloads } from '../support/downloads.ts';
import { forgetfulFetch, type ForgetfulFetch } from '../support/garbage.ts';
import { sendJson, startServer, type TestServer } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

describe('a body', () => {
  const spec = { method: 'GET', url: new URL('https://example.com/') } as const;
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  function watched(
    source: ReadableStream<Uint8Array> | string | null,
    headers: Record<string, string> = {},
    clock = new TestClock(),
  ): ReadableStream<Uint8Array> {
    const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
    const response = new Response(source as never, { headers });
    return checkedBody({ response, redact: createRedact(['tok']) }, deadline, spec);
  }

  describe('a watched body', () => {
    test('turns what breaks it into a clean NetworkError', async () => {
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error('reset with tok')),
      });
      await expect(readText(watched(source), 100, spec)).rejects.toMatchObject({
        code: 'network',
        maybeSent: true,
        cause: { message: 'reset with [hidden]' },
      });
    });

    test('reads nothing before it is read, and has a limit only while it is', async () => {
      let pulled = 0;
      const clock = new TestClock();
      const source = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            pulled++;
            controller.enqueue(bytes('x'));
          },
        },
        { highWaterMark: 0 },
      );
      const body = watched(source, {}, clock);
      await Promise.resolve();
      expect([pulled, clock.armed, hasBegun(body)]).toEqual([0, 0, false]);
      const reader = body.getReader();
      await reader.read();
      expect([pulled, clock.armed]).toEqual([1, 0]);
      reader.releaseLock();
      expect(hasBegun(body)).toBe(true);
    });

    test('that stays silent is a TimeoutError', async () => {
      const clock = new TestClock();
      const body = watched(
        new ReadableStream({ pull: () => new Promise(() => undefined) }),
        {},
        clock,
      );
      const armed = clock.nextTimeout();
      const reading = readText(body, 100, spec);
      await armed;
      clock.expire();
      await expect(reading).rejects.toMatchObject({ code: 'timeout', phase: 'body' });
    });

    test('does not take the end that an abort makes for the end of the answer', async () => {
      // Promises of streams belong to another realm than Jest's, and lose races that they win outside.
      let settle: (result: { done: boolean }) => void;
      const reader = {
        read: () => new Promise((resolve) => (settle = resolve)),
        cancel: async () => settle({ done: true }),
      };
      const response = { headers: new Headers(), body: { getReader: () => reader } };
      const answer = { response: response as never, redact: createRedact([]) };
      const clock = new TestClock();
      const controller = new AbortController();
      const deadline = createDeadline(clock, TIMEOUT, 'GET /', controller.signal);
      const armed = clock.nextTimeout();
      const reading = readText(checkedBody(answer, deadline, spec), 100, spec);
      await armed;
      controller.abort(new Error('enough'));
      await expect(reading).rejects.toThrow('enough');
    });

    test('passes a cancel on', async () => {
      let reason: unknown;
      await watched(new ReadableStream({ cancel: (why) => void (reason = why) })).cancel('enough');
      expect(reason).toBe('enough');
    });
  });

  describe('readText', () => {
    test('decodes characters that are cut in two, and takes no body at all', async () => {
      const [a, b] = [bytes('é').subarray(0, 1), bytes('é').subarray(1)];
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(a);
          controller.enqueue(b);
          controller.close();
        },
      });
      await expect(readText(watched(source), 100, spec)).resolves.toBe('é');
      await expect(readText(watched(null), 100, spec)).resolves.toBe('');
    });

    test('refuses what is too long', async () => {
      await expect(readText(watched('hello'), 5, spec)).resolves.toBe('hello');
      await expect(readText(watched('hello'), 4, spec)).rejects.toMatchObject({
        code: 'invalid-response',
      });
    });
  });
});

/** So that what hangs fails by name, long before Jest gives up. */
async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} takes too long`)), 2000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

describe('after the Request was collected', () => {
  let server: TestServer;
  let clock: TestClock;
  let forgetful: ForgetfulFetch;
  let client: Client;
  let controller: AbortController;
  let closed: Promise<unknown>[];

  useDownloads();
  beforeEach(async () => {
    closed = [];
    // One piece of the body, and never another.
    server = await startServer((_, response, { socket }) => {
      closed.push(once(socket, 'close'));
      response.write('{');
    });
    clock = new TestClock();
    forgetful = forgetfulFetch();
    client = testClient(server.origin, { clock, retries: 0, fetch: forgetful.fetch });
    controller = new AbortController();
  });
  afterEach(() => server.close());

  const recording = () => client.calls.recording('c', { signal: controller.signal });

  /** Everything that waits for a body. Started together, for collecting garbage takes its time. */
  function startAll(): Record<string, Promise<unknown>> {
    const { signal } = controller;
    return {
      list: client.events.list({ signal }),
      iterate: client.events.iterate({ signal }).next(),
      stream: recording().then(({ body }) => new Response(body).text()),
      saveTo: recording().then(({ saveTo }) => saveTo(path)),
      'saveTo with its own signal': client.calls
        .recording('c')
        .then(({ saveTo }) => saveTo(`${path}.own`, { signal })),
    };
  }

  async function expectAllToEnd(end: () => void, error: Record<string, unknown>): Promise<void> {
    const failures = Object.entries(startAll()).map(
      ([what, promise]) => [what, caught(promise)] as const,
    );
    await forgetful.forget(failures.length);
    while (clock.armed < failures.length) await setImmediate();
    end();
    for (const [what, failure] of failures) expect(await soon(what, failure)).toMatchObject(error);
    expect(closed).toHaveLength(failures.length);
    await soon('closing', Promise.all(closed));
  }

  test('an abort ends all that waits for a body, and its connection', () =>
    expectAllToEnd(() => controller.abort(new Error('enough')), { message: 'enough' }));

  test('so does a timeout', () =>
    expectAllToEnd(() => clock.expire(), { code: 'timeout', phase: 'body' }));

  test('an abort ends the connection of a recording that is not being read', async () => {
    const unread = (await recording()).body.getReader();
    const paused = (await recording()).body.getReader();
    await paused.read();
    await forgetful.forget(2);
    controller.abort(new Error('enough'));
    await soon('closing', Promise.all(closed));
    await expect(unread.read()).rejects.toThrow('enough');
    await expect(paused.read()).rejects.toThrow('enough');
  });
});

describe('a hostile answer', () => {
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
      expect(error).toMatchObject({ code: 'invalid-response' });
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
    expect(error).toMatchObject({ code: 'redirect' });
    expect(error.message).toContain('fetch');
    expect(everyPrint(error)).not.toContain(TOKEN);
  });

  describe('refused before anything is sent', () => {
    test.each(['', 'a\ud800', 7, null, {}, ['m']] as never[])('next %p', async (next) => {
      const client = testClient(server.origin);
      expect(await caught(client.events.list({ next }))).toBeInstanceOf(ConfigurationError);
      expect(await caught(client.events.iterate({ next }).next())).toBeInstanceOf(
        ConfigurationError,
      );
    });

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
});
