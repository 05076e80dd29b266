import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { startSender } from '@call-webhooks/contract-tests';
import fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import { createNodeHandler } from '../src/node.ts';
import { createWebHandler } from '../src/web.ts';
import { send, serve, setup, stopServers } from './node-support.ts';
import { deferred, delivery, Lines, NOW, SECRET, STARTED } from './support.ts';

describe('createNodeHandler', () => {
  afterEach(stopServers);

  it('responds over real HTTP', async () => {
    const { post, handle } = setup();
    const port = await serve((req, res) => void post(req, res));
    const request = await delivery(STARTED);
    expect(await send(port, request)).toMatchObject({ status: 200, text: '{"outcome":"handled"}' });
    expect(await send(port, request)).toMatchObject({
      status: 409,
      text: '{"outcome":"replayed"}',
    });
    expect(await send(port, { method: 'POST', body: 'x' })).toMatchObject({ status: 401 });
    expect(handle.mock.calls).toEqual([[STARTED]]);
  });

  it('responds while a test has replaced the timers', async () => {
    const { post } = setup();
    const port = await serve((req, res) => void post(req, res));
    const request = await delivery(STARTED);
    jest.useFakeTimers();
    try {
      expect(await send(port, request)).toMatchObject({ status: 200 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes a body in chunks, without a length', async () => {
    const { post } = setup();
    const port = await serve((req, res) => void post(req, res));
    const sender = startSender(`http://127.0.0.1:${String(port)}/hook`, SECRET);
    const sent = { timestamp: NOW / 1000, headers: { 'transfer-encoding': 'chunked' } };
    const reply = await sender.post(JSON.stringify(STARTED), sent);
    expect(reply).toEqual({ status: 200, outcome: 'handled' });
  });

  it('responds 405 to other methods', async () => {
    const { post } = setup();
    const port = await serve((req, res) => void post(req, res));
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
      const { status, headers } = await send(port, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  it('responds 413 to a declared length, and to a stream that grows', async () => {
    const { post } = setup({ bodyLimit: 1_000 });
    const port = await serve((req, res) => void post(req, res));
    const { headers } = await delivery(STARTED);
    expect(
      (await send(port, { method: 'POST', headers, body: new Uint8Array(1_001) })).status,
    ).toBe(413);
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 50; i++) controller.enqueue(new Uint8Array(100));
        controller.close();
      },
    });
    expect((await send(port, { method: 'POST', headers, body, duplex: 'half' })).status).toBe(413);
  });

  it('responds 408 to a body that stops, without running a handler', async () => {
    const { post, handle } = setup({ bodyTimeout: 60 });
    const port = await serve((req, res) => void post(req, res));
    const { headers, body } = await delivery(STARTED);
    const client = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.length) },
    });
    client.on('error', () => undefined);
    client.write(body.subarray(0, 10));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(408);
    client.destroy();
    expect(handle).not.toHaveBeenCalled();
  });

  it('claims nothing when the client disconnects during the body', async () => {
    const { post, handle, lines } = setup();
    let over!: () => void;
    const finished = new Promise<void>((resolve) => (over = resolve));
    const port = await serve((req, res) => void post(req, res).then(over));
    const { headers, body } = await delivery(STARTED);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(
      `POST /hook HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(body.length)}\r\n${head}\r\n{"ev`,
      () => socket.destroy(),
    );
    await finished;
    expect(lines.join()).toContain('408 body-timeout');
    expect(handle).not.toHaveBeenCalled();
    expect((await send(port, { method: 'POST', headers, body })).status).toBe(200);
  });

  it('responds 401 to joined headers', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => void post(req, res));
    const { headers, body } = await delivery(STARTED);
    const id = headers['x-service-webhook-id']!;
    const client = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { ...headers, 'x-service-webhook-id': [id, id] },
    });
    client.end(body);
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(401);
    expect(lines.join()).toContain('malformed-header');
  });

  it('does not respond twice, and does not reject, if somebody else has responded', async () => {
    const { post, handle } = setup();
    const answered = deferred<unknown>();
    const port = await serve((req, res) => {
      res.writeHead(418).write('mine');
      answered.resolve(post(req, res).then(() => res.end(' alone')));
    });
    expect(await send(port, await delivery(STARTED))).toMatchObject({
      status: 418,
      text: 'mine alone',
    });
    await answered.promise;
    expect(handle).toHaveBeenCalledTimes(1);
  });
});

describe('a handler called by the wrong framework says so, and runs nothing', () => {
  const handle = jest.fn();
  const options = {
    secret: SECRET,
    now: () => NOW,
    logger: new Lines(),
    on: { 'call:started': handle },
  };
  let app: FastifyInstance | undefined;
  afterEach(async () => {
    await app?.close();
    expect(handle).not.toHaveBeenCalled();
  });

  it('createNodeHandler in a Fastify route', async () => {
    app = fastify();
    app.post('/hook', createNodeHandler(options) as never);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { headers, body } = await delivery(STARTED);
    const response = await fetch(`${app.listeningOrigin}/hook`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('register the plugin of @call-webhooks/fastify');
  });

  it.each([
    ['createNodeHandler', createNodeHandler(options), 'createWebHandler'],
    ['createWebHandler', createWebHandler(options), 'with c.req.raw'],
  ])('%s in a Hono route', async (_name, handler, fix) => {
    const hono = new Hono();
    const errors: Error[] = [];
    hono.onError((error, c) => {
      errors.push(error);
      return c.text('failed', 500);
    });
    hono.post('/hook', handler as never);
    const response = await hono.request('/hook', await delivery(STARTED));
    expect(response.status).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ code: 'invalid-options' })]);
    expect(errors[0]?.message).toContain(fix);
  });

  it('createWebHandler with the request of node:http', async () => {
    const { method, headers } = await delivery(STARTED);
    const handler = createWebHandler(options) as (...args: unknown[]) => unknown;
    expect(() => handler({ method, headers }, {})).toThrow('createNodeHandler');
  });
});
