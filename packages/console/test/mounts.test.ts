import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { serveLocally, startSender } from '@call-webhooks/contract-tests';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import type { CallTimeline } from '../src/api-types.ts';
import { apps, closing, make, secret } from './mounted.ts';
import { callBody } from './support.ts';

describe.each(apps)('%s', (name, start) => {
  it('serves the page, its data, and changes', async () => {
    const origin = await start();
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${origin}/ops/webhooks${path}`, {
        redirect: 'manual',
        ...init,
        headers: { 'x-user': 'ada', ...(init.headers as object) },
      });
    const page = await ask('');
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await page.text()).toContain('<base href="./webhooks/">');
    expect(await (await ask('/?view=x')).text()).not.toContain('<base');
    expect(await (await ask('', { method: 'HEAD' })).text()).toBe('');

    const sender = startSender(`${origin}/hook`, secret);
    expect(await sender.post(callBody('c1'))).toMatchObject({ outcome: 'handled' });
    const call = (await (await ask('/api/calls/c1')).json()) as CallTimeline;
    expect(call.events.map(({ state }) => state)).toEqual([null, 'handled', null]);
    expect(await (await ask('/api/calls/c%2F1?tenant=')).json()).toMatchObject({ callId: 'c/1' });

    const headers = {
      ...{ 'sec-fetch-site': 'same-origin', origin, 'content-type': 'application/json' },
    };
    const body = JSON.stringify({ dryRun: true, since: 0 });
    const sent = await ask('/api/reconcile', { method: 'POST', headers, body });
    // It has read the body, and has no client.
    expect(await sent.json()).toMatchObject({ error: { code: 'not-configured' } });
    // A parser in front has a limit of its own.
    if (name === 'Express behind express.json()') return;
    for (const [length, status] of [
      [131_072, 422],
      [131_073, 413],
    ] as const) {
      const large = { method: 'POST', headers, body: body.padEnd(length) };
      expect([length, (await ask('/api/reconcile', large)).status]).toEqual([length, status]);
    }
  });

  it('lets in nobody else, and is never 404 or a redirect below its path', async () => {
    const origin = await start();
    const paths = [
      ...['/ops/webhooks', '/ops/webhooks/', '/ops/webhooks/api/overview', '/ops/webhooks/x/y'],
      ...['/ops/webhooks//', '/ops/webhooks/%2e%2e/hook', '/ops/webhooks/..%2fhook'],
    ];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const { status } = await rawRequest(origin, method, path);
        expect([method, path, status]).toEqual([method, path, 403]);
        const known = await rawRequest(origin, method, path, { 'x-user': 'ada' });
        expect([200, 400, 403, 405, 422]).toContain(known.status);
      }
  });

  it('gives authorize the request of the framework', async () => {
    let raw: unknown;
    const origin = await start({
      authorize: (request) => {
        ({ raw } = request as { raw: unknown });
        return true;
      },
    });
    await rawRequest(origin, 'GET', '/ops/webhooks/api/session');
    expect(Object(raw)).toHaveProperty('headers');
    expect(Object(raw)).toHaveProperty('url');
  });
});

it.each(apps.filter(([name]) => ['Express', 'Fastify'].includes(name)))(
  '%s: a receiver below the console gets its deliveries',
  async (_name, start) => {
    const sender = startSender(`${await start()}/ops/webhooks/hook`, secret);
    expect(await sender.post(callBody('c1'))).toMatchObject({ status: 200, outcome: 'handled' });
  },
);

it.each(apps.filter(([name]) => ['Express', 'Fastify', 'node:http'].includes(name)))(
  '%s: a rule that points at the console by mistake is not paused',
  async (_name, start) => {
    const origin = await start();
    for (const path of ['', '/', '/nobody', '/api/redrive', '/assets/x']) {
      const { status } = await startSender(`${origin}/ops/webhooks${path}`, secret).post(
        callBody('c1'),
      );
      expect([path, [400, 403].includes(status)]).toEqual([path, true]);
    }
  },
);

it.each(apps.filter(([name]) => ['node:http', 'fetch, as Next and Hono call it'].includes(name)))(
  '%s: only below its own path is there a console',
  async (_name, start) => {
    const origin = await start();
    for (const path of ['', '/', '/ops', '/ops/', '/ops/webhooks2', '/ops/webhooksx/api/session'])
      for (const [user, code] of [
        ['ada', 'unknown-path'],
        ['eve', 'unauthorized'],
      ] as const) {
        const response = await fetch(`${origin}${path}`, { headers: { 'x-user': user } });
        expect([path, response.status, await response.json()]).toEqual([
          ...[path, user === 'ada' ? 400 : 403],
          { error: { code, message: expect.any(String) } },
        ]);
      }
  },
);

it('answers HTTP/2 and injected requests', async () => {
  const { console } = make({ path: '/ops/webhooks' });
  const server = createHttp2Server((request, response) => {
    console(request as never, response as never);
  }).listen(0, '127.0.0.1');
  closing.push(() => server.close());
  await once(server, 'listening');
  const session = connectHttp2(
    `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
  );
  closing.push(() => session.close());
  for (const [user, status] of [
    ['ada', 200],
    ['eve', 403],
  ] as const) {
    const stream = session.request({ ':path': '/ops/webhooks/api/session', 'x-user': user });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(status);
    stream.close();
  }
  // A browser that does not say where a request is from names the host of its page.
  const change = async (origin: string) => {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': '/ops/webhooks/api/redrive/stop', 'x-user': 'ada' },
      ...{ 'content-type': 'application/json', origin },
    });
    stream.end('{}');
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    stream.close();
    return headers[':status'];
  };
  const own = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  expect(await change(`http://${own}`)).toBe(200);
  expect(await change('http://elsewhere.example')).toBe(403);

  const app = fastify();
  await app.register(console.fastify, { prefix: '/ops/webhooks' });
  const response = await app.inject({ url: '/ops/webhooks/api/session' });
  expect(response.statusCode).toBe(403);
});

it('leaves other paths to Express, and needs a prefix in Fastify', async () => {
  const { console } = make({ path: '/ops/webhooks' });
  const app = express().use(console);
  app.get('/mine', (_request, response) => void response.send('mine'));
  const { origin, close } = await serveLocally(app);
  closing.push(close);
  expect(await (await fetch(`${origin}/mine`)).text()).toBe('mine');
  expect((await fetch(`${origin}/ops/webhooks`)).status).toBe(403);
  const without = fastify();
  void without.register(console.fastify);
  await expect(async () => without.ready()).rejects.toThrow(/prefix/);
});

it('survives requests that no client of HTTP sends', async () => {
  const { console } = make({ path: '/ops/webhooks' });
  const server = createServer((request, response) => {
    console(request, response);
  }).listen(0, '127.0.0.1');
  closing.push(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const targets = [
    ...['/ops/webhooks/../../etc/passwd', '//ops/webhooks', '*', 'http://x/ops/webhooks'],
    ...['/ops/webhooks/<script>', '/ops/webhooks\\..\\x', '/ops/webhooks?%', '/ops/webhooks#/x'],
  ];
  for (const target of targets) {
    const socket = connect(port, '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nhost: x\r\nx-user: ada\r\nconnection: close\r\n\r\n`);
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    expect([target, text.slice(0, 12)]).toEqual([
      target,
      expect.stringMatching(/^HTTP\/1\.1 (?:200|400)$/),
    ]);
    expect(text).not.toContain('<script>');
  }
});

/** Without the clean-up that `fetch` does with paths. */
async function rawRequest(
  origin: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number }> {
  const { hostname, port } = new URL(origin);
  const sent = httpRequest({ hostname, port, method, path, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode ?? 0 };
}

describe('a form that the console does not know is refused, with what to do', () => {
  const { console } = make({ path: '/ops/webhooks' });
  const request = new Request('https://ops.test/ops/webhooks');
  const wrong = (message: RegExp) =>
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringMatching(message),
    });

  it.each<[string, unknown[]]>([
    ['a context of Koa', [{ req: {}, res: {}, url: '/', headers: {} }, () => undefined]],
    ['an event of AWS Lambda', [{ rawPath: '/ops/webhooks', headers: {} }, {}]],
    ["fetch's Request", [request]],
    ['an event of SvelteKit', [{ request, url: new URL(request.url) }]],
    ['a request and a reply of Fastify', [{ raw: {} }, { raw: {} }]],
    ['a request without a response', [{ on: () => undefined, url: '/', headers: {} }]],
    ['nothing', []],
  ])('%s for node:http', (_what, given) => {
    const call = console as unknown as (...given: unknown[]) => void;
    expect(() => call(...given)).toThrow(
      wrong(/^console was not called with .*Koa.*console\.fetch/s),
    );
  });

  it.each<[string, unknown[]]>([
    ['a context of Hono', [{ req: { raw: request } }]],
    ['an event of SvelteKit', [{ request, url: new URL(request.url) }]],
    ['an event of AWS Lambda', [{ rawPath: '/ops/webhooks', headers: {} }, {}]],
    ['a request of node:http', [{ url: '/ops/webhooks', headers: {}, method: 'GET' }, {}]],
    ['nothing', []],
  ])('%s for fetch', async (_what, given) => {
    const call = console.fetch as unknown as (...given: unknown[]) => Promise<Response>;
    await expect(call(...given)).rejects.toEqual(wrong(/event\.request.*c\.req\.raw/s));
  });

  it('a handler for Fastify', () => {
    const call = console.fastify as unknown as (...given: unknown[]) => void;
    expect(() => call({ raw: {} }, { raw: {} })).toThrow(wrong(/app\.register\(console\.fastify/));
  });

  it('Koa answers with the form that the message names', async () => {
    const app = new Koa();
    app.use(async (ctx, next) => {
      if (ctx.path.startsWith('/ops/webhooks')) {
        ctx.respond = false;
        console(ctx.req, ctx.res);
      } else await next();
    });
    const answer = app.callback();
    const served = await serveLocally((request, response) => void answer(request, response));
    closing.push(served.close);
    const response = await fetch(`${served.origin}/ops/webhooks`, { headers: { 'x-user': 'ada' } });
    expect(response.status).toBe(200);
  });
});
