import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { checkBody, checkRequest, RequestView, unreadable } from '../../src/http/request.ts';
import { readWebBody } from '../../src/http/web-body.ts';
import type { HeadersLike } from '../../src/index.ts';
import { discardRest, keepRawBody, readRawBody } from '../../src/node.ts';
import { send, serve, setup, stopServers } from '../node-support.ts';
import { deferred, delivery, STARTED } from '../support.ts';

describe('bodies of Node', () => {
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

    describe('by the host, so that the stream has nothing', () => {
      const ofHost = (body: unknown, ...chunks: (string | null)[]) => {
        const req = new IncomingMessage(new Socket());
        for (const chunk of chunks) req.push(chunk);
        return Object.assign(req, { body });
      };
      const parsed = { code: 'body-already-parsed' };

      it.each([{ eventName: 'call:started' }, [1], '{"eventName":"call:started"}', 7, true])(
        'is rejected with the fix: %j',
        async (body) => {
          await expect(readRawBody(ofHost(body, null), LIMITS)).rejects.toMatchObject(parsed);
          const neverEnds = readRawBody(ofHost(body), { ...LIMITS, bodyTimeout: 20 });
          await expect(neverEnds).rejects.toMatchObject(parsed);
        },
      );

      it.each([undefined, null, '', {}, []])('is empty: %j', async (body) => {
        expect(await readRawBody(ofHost(body, null), LIMITS)).toHaveLength(0);
      });

      it('is read from the stream if that has it, and within its limit', async () => {
        const read = await readRawBody(ofHost({ a: 1 }, '{"a" : 1}', null), LIMITS);
        expect(Buffer.from(read).toString()).toBe('{"a" : 1}');
        const large = readRawBody(ofHost({ a: 1 }, 'x'.repeat(2_000), null), LIMITS);
        await expect(large).rejects.toMatchObject({ code: 'body-too-large' });
      });
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
        (req, res) =>
          void read(req).then((body) => post(Object.assign(req, { rawBody: body }), res)),
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
});

describe('bodies of fetch', () => {
  const LIMITS = { bodyLimit: 10, bodyTimeout: 60_000 };
  const URL = 'https://hooks.example.test/hook';

  const post = (body?: string | ReadableStream) =>
    new Request(URL, { method: 'POST', body: body ?? null, duplex: 'half' });

  /** The timers that keep the process alive. */
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  afterEach(() => void jest.restoreAllMocks());

  describe('readWebBody', () => {
    it('refuses a body that somebody else is reading', async () => {
      const request = post('body');
      const reader = request.body!.getReader();
      expect(request.bodyUsed).toBe(false);
      await expect(readWebBody(request, LIMITS)).rejects.toMatchObject({
        code: 'body-already-parsed',
      });
      reader.releaseLock();
      expect(await readWebBody(request, LIMITS)).toEqual(new TextEncoder().encode('body'));
    });

    it('refuses a body that somebody else has read and let go of', async () => {
      const request = post('body');
      const reader = request.body!.getReader();
      await reader.read();
      reader.releaseLock();
      expect(request.body!.locked).toBe(false);
      await expect(readWebBody(request, LIMITS)).rejects.toMatchObject({
        code: 'body-already-parsed',
      });
    });

    it('leaves no timer behind, once a body was read or refused', async () => {
      const before = timers();
      await readWebBody(post('body'), LIMITS);
      await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toThrow();
      expect(timers()).toBe(before);
    });

    it('works where timers are numbers, as on Workers', async () => {
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((() => 1) as never);
      await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toMatchObject({
        code: 'body-too-large',
      });
    });

    it('names the option that a body exceeds', async () => {
      await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toThrow(
        'larger than bodyLimit, 10 bytes',
      );
      const silent = post(new ReadableStream());
      await expect(readWebBody(silent, { bodyLimit: 10, bodyTimeout: 1 })).rejects.toThrow(
        'bodyTimeout (1 ms) passed first',
      );
    });
  });

  describe('checkBody', () => {
    it('asks for raw bytes when it gets a parsed body', () => {
      expect(() => checkBody({ id: 1 }, 10)).toThrow(
        /signature can't be checked\. Pass the raw bytes/,
      );
    });

    it('takes a body of exactly the limit, and none that is longer', () => {
      expect(checkBody(new Uint8Array(10), 10)).toHaveLength(10);
      expect(() => checkBody(new Uint8Array(11), 10)).toThrow('larger than bodyLimit, 10 bytes');
    });
  });

  describe('readFailure', () => {
    it.each([{ status: 413 }, { statusCode: 413 }])(
      'knows the limit of a host by its error with %j',
      (error) => {
        const failure = unreadable(Object.assign(new Error('too big'), error));
        expect(failure.code).toBe('body-too-large');
      },
    );
  });

  describe('checkRequest', () => {
    const check = (method: string, headers: Record<string, string>) => () => {
      checkRequest({ method, headers }, 10);
    };

    it('takes a body whose encoding is empty or identity', () => {
      expect(check('POST', { 'content-encoding': '' })).not.toThrow();
      expect(check('POST', { 'content-encoding': 'Identity' })).not.toThrow();
    });

    it('says what is wrong with a request', () => {
      expect(check('GET', {})).toThrow('sent with POST');
      expect(check('POST', { 'content-encoding': 'gzip' })).toThrow('compressed');
      expect(check('POST', { 'content-length': '11' })).toThrow('larger than bodyLimit, 10 bytes');
    });
  });
});

describe('discardRest', () => {
  afterEach(() => void jest.useRealTimers());

  it('cuts off a client that goes on sending, 2 s after the response', async () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    discardRest(message);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(message.destroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(message.destroyed).toBe(true);
  });

  it('stops its timer when the connection closes', () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    discardRest(message);
    message.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves a request alone that has arrived', async () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    message.complete = true;
    discardRest(message);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(message.destroyed).toBe(false);
  });
});

describe('the request of a tenant', () => {
  const view = (url: string, headers: HeadersLike = {}) => {
    const { path, query, host, headers: all } = new RequestView(url, headers);
    return { path, query: query.toString(), host, headers: all };
  };

  it('is the same for the request of Node and of fetch', () => {
    const expected = {
      path: '/hooks/acme',
      query: 'a=1&b=%3F',
      host: 'hooks.example.com:8080',
      headers: { host: 'Hooks.example.com:8080', 'x-workspace': 'acme' },
    };
    const headers = { Host: 'Hooks.example.com:8080', 'X-Workspace': 'acme' };
    expect(view('/hooks/acme?a=1&b=?', headers)).toEqual(expected);
    expect(view('https://hooks.example.com:8080/hooks/acme?a=1&b=?', new Headers(headers))).toEqual(
      expected,
    );
  });

  it.each([
    ['/', '/'],
    ['', '/'],
    ['?a=/x', '/'],
    ['/a%2Fb/', '/a%2Fb/'],
    ['/a#b?c', '/a'],
    ['//evil.example/x', '//evil.example/x'],
    ['http://h', '/'],
    ['HTTP://h/x?y', '/x'],
  ])('the path of %j is %j', (url, path) => {
    expect(view(url).path).toBe(path);
  });

  it('has the host of HTTP/2, and of a URL without a host header', () => {
    expect(view('/x', { ':authority': 'A.example.com' }).host).toBe('a.example.com');
    expect(view('https://b.example.com/x', new Headers()).host).toBe('b.example.com');
    expect(view('/x').host).toBe('');
    expect(view('/x').query).toBe('');
  });

  it('joins several values, and keeps a header that is called __proto__', () => {
    const given = JSON.parse('{"x-a":["1","2"],"__proto__":"x","Y":"z"}') as Record<string, string>;
    const { headers } = view('/', given);
    expect(Object.entries(headers)).toEqual([
      ['x-a', '1, 2'],
      ['__proto__', 'x'],
      ['y', 'z'],
    ]);
  });

  it('leaves out a header without a value, and takes the last of two that differ by case', () => {
    expect(view('/', { 'x-a': undefined, 'X-B': '1', 'x-b': '2' }).headers).toEqual({ 'x-b': '2' });
  });
});
