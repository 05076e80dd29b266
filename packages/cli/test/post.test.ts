import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { post } from '../src/http/post.ts';

// One request to a receiver, and everything that may come of it.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that treats each request like this, and its requests. */
async function serving(treat: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const requests: { method?: string; headers: IncomingMessage['headers']; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const taken = { method: request.method ?? '', headers: request.headers };
      requests.push({ ...taken, body: await buffer(request) });
      await treat(request, response);
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
  return { url, requests, server };
}

const running = new AbortController().signal;
const request = (url: string, more: Partial<Parameters<typeof post>[0]> = {}) => ({
  ...{ url, headers: { 'X-One': '1', 'X-Two': ['a', 'b'] }, body: Buffer.from('{}') },
  ...{ timeout: 20_000, ...more },
});
const MS = expect.any(Number);

describe('a request', () => {
  test('is a POST of these bytes on a connection of its own, with no headers but these', async () => {
    const { url, requests } = await serving((_request, response) => response.end());
    await post(request(url), running);
    await post(request(url, { method: 'GET', body: Buffer.alloc(0) }), running);
    const { host } = new URL(url);
    const headers = { host, 'x-one': '1', 'x-two': 'a, b', connection: 'close' };
    expect(requests).toEqual([
      { method: 'POST', headers: { ...headers, 'content-length': '2' }, body: Buffer.from('{}') },
      { method: 'GET', headers, body: Buffer.alloc(0) },
    ]);
  });

  test('whose body is sent in its own way has no other', async () => {
    const { url, requests } = await serving((_request, response) => response.end());
    await post(
      request(url, {
        async sendBody(one) {
          one.write('a');
          await new Promise(setImmediate);
          one.end('b');
        },
      }),
      running,
    );
    expect(String(requests[0]?.body)).toBe('ab');
  });

  test('whose body cannot be sent is a failed connection', async () => {
    const { url } = await serving((_request, response) => response.end());
    const sendBody = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOWAY' }));
    expect(await post(request(url, { sendBody }), running)).toEqual({
      ...{ kind: 'connection-error', code: 'ENOWAY', ms: MS },
    });
  });
});

describe('a response', () => {
  test.each([200, 204, 301, 404, 599])('%d is told as it is, and not followed', async (status) => {
    const { url, requests } = await serving((_request, response) =>
      response.writeHead(status, { location: '/other', 'x-a': '1' }).end(status === 204 ? '' : 'é'),
    );
    expect(await post(request(url), running)).toEqual({
      ...{ kind: 'status', status, ms: MS },
      headers: expect.objectContaining({ location: '/other', 'x-a': '1' }),
      body: Buffer.from(status === 204 ? '' : 'é'),
    });
    expect(requests).toHaveLength(1);
  });

  test.each([65_535, 65_536, 65_537, 200_000])(
    '%d bytes: the first 64 KiB are kept',
    async (size) => {
      const { url } = await serving((_request, response) => response.end(Buffer.alloc(size, 'x')));
      const result = await post(request(url), running);
      expect(result).toMatchObject({ kind: 'status', status: 200 });
      expect(result.kind === 'status' && result.body.length).toBe(Math.min(size, 65_536));
    },
  );

  test('that never ends is read no further, and its connection is closed', async () => {
    let isClosed: Promise<unknown> | undefined;
    const { url } = await serving((_request, response) => {
      isClosed = once(response, 'close');
      response.writeHead(200);
      const more = () => {
        if (response.write(Buffer.alloc(20_000))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    });
    const result = await post(request(url), running);
    expect(result.kind === 'status' && result.body.length).toBe(65_536);
    await isClosed;
  });

  test('that breaks off still has its status, and what came of its body', async () => {
    const { url } = await serving(async (_request, response) => {
      response.writeHead(200, { 'content-length': '9' }).write('abc');
      await new Promise((resolve) => setTimeout(resolve, 50));
      response.destroy();
    });
    expect(await post(request(url), running)).toMatchObject({
      ...{ kind: 'status', status: 200, body: Buffer.from('abc') },
    });
  });
});

describe('without a response', () => {
  test('in time, it says so, and how long it waited', async () => {
    const { url } = await serving(() => undefined);
    const result = await post(request(url, { timeout: 120 }), running);
    expect(result).toEqual({ kind: 'timeout', ms: MS });
    expect(result.ms).toBeGreaterThanOrEqual(115);
  });

  test('since the connection was closed', async () => {
    const { url } = await serving((_request, response) => response.destroy());
    expect(await post(request(url), running)).toEqual({
      ...{ kind: 'connection-error', code: 'ECONNRESET', ms: MS },
    });
  });

  test('since nothing listens', async () => {
    expect(await post(request('http://127.0.0.1:2/hook'), running)).toEqual({
      ...{ kind: 'connection-error', code: 'ECONNREFUSED', ms: MS },
    });
  });

  test('since it was stopped, before or while it waits: with that reason, and no request is left', async () => {
    const { url, requests } = await serving(() => undefined);
    const stopped = AbortSignal.abort(new Error('Ctrl-C'));
    await expect(post(request(url), stopped)).rejects.toThrow('Ctrl-C');
    expect(requests).toEqual([]);
    const controller = new AbortController();
    const waiting = post(request(url), controller.signal);
    while (requests.length === 0) await new Promise(setImmediate);
    controller.abort(new Error('Ctrl-C'));
    await expect(waiting).rejects.toThrow('Ctrl-C');
  });
});
