import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { keepRawBody, readRawBody } from '../../src/node.ts';
import { send, serve, setup, stopServers } from '../node-support.ts';
import { deferred, delivery, STARTED } from '../support.ts';

afterEach(stopServers);

const LIMITS = { bodyLimit: 1_000, bodyTimeout: 1_000 };

describe('a body that was already read', () => {
  const read = async (req: IncomingMessage) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };

  it('gets 500, with the fix in one log line', async () => {
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

  it('gets 500 when `request.body` throws, as with the helpers of Vercel', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => {
      const get = () => {
        throw new Error('Invalid JSON');
      };
      void read(req).then(() => post(Object.defineProperty(req, 'body', { get }), res));
    });
    expect((await send(port, await delivery(STARTED))).status).toBe(500);
    expect(lines[0]).toContain('body-already-parsed');
  });

  it('gets 500 when the stream emits strings', async () => {
    const { post, lines } = setup();
    const port = await serve((req, res) => void post(req.setEncoding('utf8'), res));
    expect((await send(port, await delivery(STARTED))).status).toBe(500);
    expect(lines[0]).toContain('body-already-parsed');
  });

  it.each<[string, (req: IncomingMessage, body: Buffer) => object]>([
    ['keepRawBody', (req, body) => (keepRawBody(req, undefined, body), { body: {} })],
    [
      'keepRawBody, although the parser made other bytes of it',
      (req, body) => (keepRawBody(req, undefined, body), { body: Buffer.from('parsed') }),
    ],
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

  it('respects bodyLimit when rawBody was kept', async () => {
    const { post } = setup({ bodyLimit: 10 });
    const port = await serve(
      (req, res) => void read(req).then((body) => post(Object.assign(req, { rawBody: body }), res)),
    );
    expect((await send(port, await delivery(STARTED))).status).toBe(413);
  });
});

describe('readRawBody', () => {
  it('returns the bytes, or the error code', async () => {
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

  it.each([
    ['a declared length', {}],
    ['chunks', { 'transfer-encoding': 'chunked' }],
  ])('takes a body of exactly bodyLimit, and no larger one, with %s', async (_how, headers) => {
    const read: (number | string)[] = [];
    const port = await serve((req, res) => {
      readRawBody(req, LIMITS)
        .then(
          ({ length }) => read.push(length),
          (error: unknown) => read.push((error as { code: string }).code),
        )
        .finally(() => res.end());
    });
    for (const length of [LIMITS.bodyLimit, LIMITS.bodyLimit + 1])
      await new Promise((resolve, reject) => {
        const own = 'transfer-encoding' in headers ? headers : { 'content-length': length };
        const options = { port, host: '127.0.0.1', method: 'POST', headers: own };
        const sent = request(options, (response) => response.resume().on('end', resolve));
        sent.on('error', reject).end(Buffer.alloc(length));
      });
    expect(read).toEqual([LIMITS.bodyLimit, 'body-too-large']);
  });

  it('reports a connection that closes in the middle of a body', async () => {
    const read = deferred<unknown>();
    const port = await serve((req) => {
      readRawBody(req, { ...LIMITS, bodyTimeout: 600_000 }).then(read.resolve, read.resolve);
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this');
    await once(socket, 'connect');
    setImmediate(() => socket.destroy());
    expect(await read.promise).toMatchObject({
      code: 'body-timeout',
      message: expect.stringContaining('the connection was closed'),
    });
  });

  it('refuses a declared length at once', async () => {
    const message = new IncomingMessage(new Socket());
    message.headers['content-length'] = String(LIMITS.bodyLimit + 1);
    await expect(readRawBody(message, LIMITS)).rejects.toMatchObject({ code: 'body-too-large' });
  });

  it('says that fewer bytes arrived than were declared', async () => {
    const message = new IncomingMessage(new Socket());
    message.headers['content-length'] = '5';
    const reading = readRawBody(message, LIMITS);
    message.push('abc');
    message.push(null);
    await expect(reading).rejects.toMatchObject({
      code: 'body-timeout',
      message: expect.stringContaining('request size did not match content length'),
    });
  });

  it('says that the connection was closed before the body was read', async () => {
    const message = new IncomingMessage(new Socket());
    message.destroy();
    await expect(readRawBody(message, LIMITS)).rejects.toThrow('the connection was closed');
  });

  it('drops a body that it refuses, and does not wait for its end', async () => {
    const message = new IncomingMessage(new Socket());
    const reading = readRawBody(message, LIMITS);
    message.push(Buffer.alloc(600));
    message.push(Buffer.alloc(600));
    await expect(reading).rejects.toMatchObject({ code: 'body-too-large' });
    expect(message.listenerCount('data')).toBe(0);
    expect(message.listenerCount('end')).toBe(0);
  });
});
