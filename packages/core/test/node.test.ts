import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createNodeHandler, keepRawBody, readRawBody } from '../src/node.ts';
import { delivery, Lines, NOW, SECRET, STARTED } from './support.ts';

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function setup(options: object = {}) {
  const log = new Lines();
  const handle = jest.fn();
  const post = createNodeHandler({
    secret: SECRET,
    now: () => NOW,
    logger: log,
    ...options,
    on: { 'call:started': (event) => void handle(event) },
  });
  return { post, handle, lines: log.all };
}

const send = async (port: number, init: object) => {
  const response = await fetch(`http://127.0.0.1:${String(port)}/hook`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const LIMITS = { bodyLimit: 1_000, bodyTimeout: 1_000 };

describe('createNodeHandler', () => {
  it('answers over real HTTP', async () => {
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

  it('answers 405 to other methods', async () => {
    const { post } = setup();
    const port = await serve((req, res) => void post(req, res));
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
      const { status, headers } = await send(port, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  it('answers 413 to an announced length, and to a stream that grows', async () => {
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

  it('answers 408 to a body that stops, and nothing has run', async () => {
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

  it('claims nothing for a client that goes away within the body', async () => {
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

  it('answers 401 to joined headers', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => void post(req, res));
    const { headers, body } = await delivery(STARTED);
    const id = headers['X-Service-Webhook-Id']!;
    const client = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { ...headers, 'X-Service-Webhook-Id': [id, id] },
    });
    client.end(body);
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(401);
    expect(lines.join()).toContain('malformed-header');
  });

  it('uses the logger that the request carries', async () => {
    const { post, lines } = setup();
    const log = new Lines();
    const port = await serve((req, res) => void post(Object.assign(req, { log }), res));
    await send(port, { method: 'POST' });
    expect(log.all).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  it('does not answer twice', async () => {
    const { post } = setup();
    const port = await serve((req, res) => {
      res.writeHead(418).end();
      void post(req, res);
    });
    expect((await send(port, await delivery(STARTED))).status).toBe(418);
  });
});

describe('a body that was read before', () => {
  const read = async (req: IncomingMessage) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };

  it('is answered 500, with the fix in one log line', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => {
      void read(req).then((body) =>
        post(Object.assign(req, { body: JSON.parse(body.toString()) as unknown }), res),
      );
    });
    expect((await send(port, await delivery(STARTED))).status).toBe(500);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('Mount the receiver before any body parser.');
  });

  it('is answered 500 when the stream gives texts', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => void post(req.setEncoding('utf8'), res));
    expect((await send(port, await delivery(STARTED))).status).toBe(500);
    expect(lines[0]).toContain('body-already-parsed');
  });

  it.each<[string, (req: IncomingMessage, body: Buffer) => object]>([
    ['keepRawBody', (req, body) => (keepRawBody(req, undefined, body), { body: {} })],
    ['request.body of bytes', (_req, body) => ({ body })],
    ['request.rawBody of bytes', (_req, body) => ({ body: {}, rawBody: body })],
  ])('is used when its bytes were kept: %s', async (_how, keep) => {
    const { post, handle } = setup();
    const port = await serve(
      (req, res) => void read(req).then((body) => post(Object.assign(req, keep(req, body)), res)),
    );
    expect((await send(port, await delivery(STARTED))).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('keeps to bodyLimit when it was kept', async () => {
    const { post } = setup({ bodyLimit: 10 });
    const port = await serve(
      (req, res) => void read(req).then((body) => post(Object.assign(req, { rawBody: body }), res)),
    );
    expect((await send(port, await delivery(STARTED))).status).toBe(413);
  });
});

describe('readRawBody', () => {
  it('gives the bytes, whatever they are, and the code when it can not', async () => {
    const seen: unknown[] = [];
    const port = await serve((req, res) => {
      const fix = req.headers['x-fix'] as string | undefined;
      if (fix !== undefined) req.setEncoding('utf8');
      readRawBody(req, LIMITS, fix)
        .then(
          (body) => seen.push([...body]),
          (error: unknown) => seen.push(error),
        )
        .finally(() => res.end());
    });
    await send(port, { method: 'POST', body: Uint8Array.from([0, 255, 128, 10]) });
    await send(port, { method: 'POST' });
    await send(port, { method: 'POST', headers: { 'x-fix': 'Do this.' }, body: 'x' });
    expect(seen).toEqual([
      [0, 255, 128, 10],
      [],
      expect.objectContaining({ code: 'body-already-parsed' }),
    ]);
    expect((seen[2] as Error).message).toContain('Do this.');
  });
});
