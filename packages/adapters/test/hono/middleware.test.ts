import { afterEach, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { Hono, type Context } from 'hono';
import { callWebhooks, generateSecret, sign, type CallWebhooksOptions } from '../../src/hono.ts';

const secret = generateSecret();
const logger = collectingLogger();
const ran: string[] = [];
afterEach(() => void ran.splice(0));

const hook = (options: Partial<CallWebhooksOptions> = {}) =>
  callWebhooks({
    ...{ secret, logger },
    on: { 'call:completed': ({ callId }) => void ran.push(String(callId)) },
    ...options,
  });
const body = callBody('c1');
const delivery = async () => ({ method: 'POST', body, headers: await sign({ secret, body }) });

describe('paths', () => {
  it.each([true, false])('a trailing slash makes no difference, strict: %s', async (strict) => {
    for (const path of ['/hook', '/hook/', '/hook//', '/hook?a=b']) {
      const app = new Hono({ strict });
      app.use(hook({ path: '/hook' }));
      expect((await app.request(path, await delivery())).status).toBe(200);
    }
    expect(ran).toHaveLength(4);
  });

  it('others go on to the app', async () => {
    const app = new Hono();
    app.use(hook({ path: '/hook' }));
    app.all('*', (c) => c.text('other', 418));
    for (const path of ['/', '/hooks', '/hook/below', '/HOOK'])
      expect((await app.request(path, await delivery())).status).toBe(418);
  });

  it('are compared in a time that grows with their length, whatever is in them', async () => {
    const app = new Hono();
    app.use(hook({ path: '/hook' }));
    const start = performance.now();
    expect((await app.request(`${'/'.repeat(100_000)}x`)).status).toBe(404);
    expect(performance.now() - start).toBeLessThan(10_000); // a regular expression takes 17 s
  });

  it('below a base path it is the whole path', async () => {
    const app = new Hono().basePath('/api');
    app.use(hook({ path: '/api/hook' }));
    expect((await app.request('/api/hook/', await delivery())).status).toBe(200);
  });

  it('in a route it needs no path', async () => {
    const app = new Hono();
    app.on('ALL', ['/hook', '/hook/'], hook());
    expect((await app.request('/hook/', await delivery())).status).toBe(200);
    expect((await app.request('/hook', { method: 'PUT' })).status).toBe(405);
  });
});

it('hands a late handler to waitUntil of the platform', async () => {
  const end = deferred();
  const app = new Hono();
  app.use(hook({ path: '/hook', ackWithin: 10, on: { 'call:completed': () => end.promise } }));
  const kept: Promise<unknown>[] = [];
  const executionCtx = {
    waitUntil: (work: Promise<unknown>) => void kept.push(work),
    passThroughOnException: () => undefined,
    props: {},
  };
  const response = await app.request('/hook', await delivery(), {}, executionCtx);
  expect(response.status).toBe(503);
  expect(kept).toHaveLength(1);
  end.resolve();
  expect(await kept[0]).toMatchObject({ outcome: 'handled', late: true });
});

it('works on a platform whose context has no waitUntil', async () => {
  const app = new Hono();
  app.use(hook({ path: '/hook' }));
  const bindings = { method: 'GET', url: 'x', body: '{}' };
  const response = await app.request('/hook', await delivery(), bindings, {} as never);
  expect(response.status).toBe(200);
});

const readBefore = (read: (c: Context) => Promise<unknown>, own = collectingLogger()) => {
  const app = new Hono();
  app.use(async (c, next) => {
    await read(c);
    await next();
  });
  app.use(hook({ path: '/hook', logger: own, bodyLimit: 1_000 }));
  return app;
};

it.each<[string, (c: Context) => Promise<unknown>]>([
  ['text', (c) => c.req.text()],
  ['json', (c) => c.req.json()],
  ['arrayBuffer', (c) => c.req.arrayBuffer()],
  ['blob', (c) => c.req.blob()],
])('a body that a middleware read with c.req.%s() is the sent one', async (_name, read) => {
  const app = readBefore(read);
  expect(await (await app.request('/hook', await delivery())).json()).toEqual({
    outcome: 'handled',
  });
  const large = JSON.stringify({ eventName: 'call:completed', note: 'x'.repeat(1_000) });
  expect((await app.request('/hook', { method: 'POST', body: large })).status).toBe(413);
  expect((await app.request('/hook', { method: 'PUT', body: '{}' })).status).toBe(405);
});

it.each<[string, (c: Context) => Promise<unknown>]>([
  ['c.req.formData()', (c) => c.req.formData()],
  ['c.req.raw.json()', (c) => c.req.raw.json()],
  // As older versions keep it.
  ['c.req.json()', async (c) => (c.req.bodyCache = { json: c.req.raw.json() })],
])('a body that a middleware read with %s: 500, with the fix in the log', async (_name, read) => {
  const own = collectingLogger();
  const { headers, ...rest } = await delivery();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = { ...rest, headers: { ...headers, ...form } };
  const response = await readBefore(read, own).request('/hook', sent);
  expect(await response.json()).toEqual({ outcome: 'body-already-parsed' });
  expect(own.lines).toEqual([expect.stringContaining('before request.json()')]);
});

it('a body that a middleware began to read, and whose connection then broke, is answered', async () => {
  const own = collectingLogger();
  const { headers, method } = await delivery();
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Error('the connection was closed')),
  });
  const app = readBefore((c) => c.req.text().catch(() => undefined), own);
  const request = { method, headers, body: broken, duplex: 'half' };
  const response = await app.request('/hook', request as RequestInit);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ outcome: 'body-already-parsed' });
  expect(own.lines).toHaveLength(1);
});

it.each([
  ['a Request', new Request('http://x', { method: 'POST', body })],
  ['the request of node:http', { method: 'POST', headers: {} }],
  ["Koa's context", { req: { headers: {} } }],
  ["a context without fetch's Request", { req: { raw: {} } }],
  ['nothing', undefined],
])('%s is refused before anything runs, with the fix', (_name, given) => {
  expect(() => (hook() as unknown as (given: unknown) => unknown)(given)).toThrow(
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringContaining("takes Hono's context") as unknown,
    }),
  );
});
