import { describe, expect, it, jest } from '@jest/globals';
import { readWebBody } from '../src/http/web-body.ts';
import { createWebHandler } from '../src/web.ts';
import { bytes, delivery, Lines, NOW, SECRET, STARTED } from './support.ts';

const never = new Promise(() => undefined);
const URL = 'https://hooks.example.test/hook';
const logger = new Lines();
const handler = (options: object = {}) =>
  createWebHandler({ secret: SECRET, now: () => NOW, logger, ...options });
const streamed = (body: ReadableStream<Uint8Array>, headers: Record<string, string>) =>
  new Request(URL, { method: 'POST', headers, body, duplex: 'half' });
const chunks = (...all: Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of all) controller.enqueue(chunk);
      controller.close();
    },
  });

describe('createWebHandler', () => {
  it('responds to a Request with a Response', async () => {
    const handle = jest.fn();
    const post = handler({ on: { 'call:started': handle } });
    const response = await post(new Request(URL, await delivery(STARTED)));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ outcome: 'handled' });
    expect(handle.mock.calls[0]?.[0]).toEqual(STARTED);
  });

  it('reads a body of many chunks byte for byte', async () => {
    const body = bytes(JSON.stringify({ ...STARTED, text: 'ä€😀'.repeat(50) }));
    const { headers } = await delivery(body);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < body.length; at += 7) controller.enqueue(body.subarray(at, at + 7));
        controller.close();
      },
    });
    expect((await handler()(streamed(stream, headers))).status).toBe(200);
  });

  it('responds 405 to GET and HEAD, with Allow: POST', async () => {
    for (const method of ['GET', 'HEAD', 'PUT']) {
      const response = await handler()(new Request(URL, { method }));
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
  });

  it('responds 401 to a POST without body and headers', async () => {
    expect((await handler()(new Request(URL, { method: 'POST' }))).status).toBe(401);
  });

  it('takes a body of exactly bodyLimit, in one chunk and in several', async () => {
    const { body, headers } = await delivery(STARTED);
    const whole = await handler({ bodyLimit: body.length })(streamed(chunks(body), headers));
    expect(whole.status).toBe(200);
    const pieces = chunks(body.subarray(0, 20), body.subarray(20));
    expect((await handler({ bodyLimit: body.length })(streamed(pieces, headers))).status).toBe(200);
    const post = handler({ bodyLimit: body.length - 1 });
    expect((await post(streamed(chunks(body), headers))).status).toBe(413);
  });

  it('responds 413 by the declared length and by the actual one', async () => {
    const big = new Uint8Array(101);
    const { headers } = await delivery(big);
    const post = handler({ bodyLimit: 100 });
    const announced = new Request(URL, {
      method: 'POST',
      headers: { ...headers, 'content-length': '101' },
      body: big,
    });
    expect((await post(announced)).status).toBe(413);
    expect(announced.bodyUsed).toBe(false);
    const cancel = jest.fn<() => void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(60)),
      cancel,
    });
    jest.useFakeTimers();
    try {
      expect((await post(streamed(endless, headers))).status).toBe(413);
      expect(cancel).not.toHaveBeenCalled(); // the client has to see the response first
      await jest.advanceTimersByTimeAsync(2_000);
      expect(cancel).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('responds 413 where the host has a lower limit of its own', async () => {
    const log = new Lines();
    const refusal = Object.assign(new Error('request body size exceeds the limit'), {
      status: 413,
    });
    const limited = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(refusal),
    });
    const { headers } = await delivery(STARTED);
    const response = await handler({ logger: log })(streamed(limited, headers));
    expect(await response.json()).toEqual({ outcome: 'body-too-large' });
    expect(log.all[0]).toContain(
      'The hosting platform rejects bodies of this size, whatever bodyLimit is',
    );
  });

  it('says that a body was cut off on its way, rather than that its signature is wrong', async () => {
    const log = new Lines();
    const { body, headers } = await delivery(STARTED);
    const cut = { method: 'POST', headers: { ...headers, 'content-length': String(body.length) } };
    const post = handler({ logger: log });
    const response = await post(new Request(URL, { ...cut, body: body.slice(0, 10) }));
    expect(await response.json()).toEqual({ outcome: 'body-timeout' });
    expect(log.all[0]).toContain(`${String(body.length)} bytes, but only 10 arrived`);
    expect((await post(new Request(URL, { ...cut, body }))).status).toBe(200);
  });

  it('responds 408 to a slow body, and cancels it later', async () => {
    jest.useFakeTimers();
    try {
      const cancel = jest.fn<() => void>();
      const silent = new ReadableStream<Uint8Array>({ cancel });
      const { headers } = await delivery(STARTED);
      const answer = handler({ bodyTimeout: 50 })(streamed(silent, headers));
      await jest.advanceTimersByTimeAsync(51);
      expect((await answer).status).toBe(408);
      expect(cancel).not.toHaveBeenCalled(); // the client has to see the response first
      await jest.advanceTimersByTimeAsync(2_000);
      expect(cancel).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('responds 408 to a body that breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('reset')),
    });
    expect((await handler()(streamed(broken, (await delivery(STARTED)).headers))).status).toBe(408);
  });

  it('responds 500 to a body that was already read, with the fix in the log', async () => {
    const log = new Lines();
    const request = new Request(URL, await delivery(STARTED));
    await request.json();
    expect((await handler({ logger: log })(request)).status).toBe(500);
    expect(log.all).toHaveLength(1);
    expect(log.all[0]).toContain('before request.json()');
  });

  it.each([{ eventName: 'call:started' }, '{"eventName":"call:started"}', [1]])(
    'responds 500 to a Request whose body is no stream: %j',
    async (body) => {
      const { headers } = await delivery(STARTED);
      const made = { method: 'POST', url: URL, headers: new Headers(headers), body };
      const request = { ...made, arrayBuffer: () => Promise.resolve(new ArrayBuffer(0)) };
      const response = await handler()(request as unknown as Request);
      expect(await response.json()).toEqual({ outcome: 'body-already-parsed' });
    },
  );

  it('responds 500 to a Request whose body somebody else is reading', async () => {
    const request = new Request(URL, await delivery(STARTED));
    request.body?.getReader();
    expect((await handler()(request)).status).toBe(500);
  });

  it('has the receiver, and passes on the logger of the request', async () => {
    const post = handler();
    await post.receiver.close();
    const log = new Lines();
    const response = await post(new Request(URL, await delivery(STARTED)), { log });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ outcome: 'shutting-down' });
    expect(log.all).toHaveLength(1);
  });

  const method = () => undefined;
  it.each<[extras: string, given: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a log that is a text', { log: 'info' }],
    ['a log that is a function', { log: method }],
    ['a log that only warns', { log: { warn: method } }],
    ['a log that only has errors', { log: { error: method } }],
    ['a log whose methods are texts', { log: { warn: 'warn', error: 'error' } }],
    ['a waitUntil that is no function', { waitUntil: true }],
    [
      'properties that throw',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no such binding');
          },
        },
      ),
    ],
  ])('uses the logger of the receiver if the host passes %s', async (_extras, given) => {
    const log = new Lines();
    const post = handler({ logger: log, ackWithin: 20, on: { 'call:started': async () => never } });
    const response = await post(new Request(URL, await delivery(STARTED)), given as never);
    expect([response.status, await response.json()]).toEqual([503, { outcome: 'deadline' }]);
    expect(log.entries.map(({ message }) => message)).toEqual([
      'call-webhooks: 503 deadline: The handler took longer than ackWithin (20 ms). It keeps running.',
    ]);
  });

  it('leaves no timer behind that keeps a process, whatever the body was', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const { body } = await delivery(STARTED);
      const broken = new ReadableStream<Uint8Array>({
        start: (controller) => controller.error(new Error('reset')),
      });
      const left: Record<string, [read: unknown, timers: number]> = {};
      for (const [what, stream, bodyLimit] of [
        ['whole', chunks(body), 1_000],
        ['in pieces', chunks(body.subarray(0, 9), body.subarray(9)), 1_000],
        ['too large', chunks(body), 10],
        ['broken', broken, 1_000],
      ] as const) {
        const reading = readWebBody(streamed(stream, {}), { bodyLimit, bodyTimeout: 5_000 });
        const read = await reading.then(
          ({ length }) => length,
          (error: unknown) => (error as Error).message,
        );
        await jest.advanceTimersByTimeAsync(2_000); // until the rest of a body is cancelled
        left[what] = [read, jest.getTimerCount()];
      }
      expect(left).toEqual({
        whole: [body.length, 0],
        'in pieces': [body.length, 0],
        'too large': ['The body is larger than bodyLimit, 10 bytes.', 0],
        broken: ['reset', 0],
      });
    } finally {
      jest.useRealTimers();
    }
  });
});
