import { describe, expect, it } from '@jest/globals';
import { ready } from '../src/index.ts';
import { webHandler } from '../src/web.ts';
import { createTestReceiver } from './support.ts';

// The contract of adapters has the forms in which frameworks call it.
describe('ready', () => {
  const { receiver } = createTestReceiver();
  const call = ready(receiver) as (...given: unknown[]) => Promise<Response | undefined>;
  const request = new Request('http://localhost/ready');

  it.each<[string, object]>([
    ["fetch's Request", request],
    ["fetch's Request of another library", { method: 'GET', headers: { get: () => null } }],
    ['a context of SvelteKit, Astro, React Router or Elysia', { request }],
    ['a context of Hono', { req: { raw: request } }],
    ['an event of h3 2', { req: request }],
  ])('responds with a Response to %s', async (_name, given) => {
    const response = await call(given, { params: {} });
    expect(response?.status).toBe(200);
    expect(await response?.json()).toEqual({ ok: true, closing: false, store: 'up' });
  });

  it('takes a handler that has a receiver', async () => {
    const response = await ready(webHandler(receiver))(request);
    expect(response.status).toBe(200);
  });

  it.each<[string, unknown[]]>([
    ["Koa's context", [{ req: {}, res: { writeHead: () => undefined }, request: { headers: {} } }]],
    ['an event of AWS Lambda', [{ httpMethod: 'GET', headers: {}, requestContext: {} }]],
    ['an event of AWS Lambda in the form 2.0', [{ version: '2.0', headers: {} }, {}]],
    ['an empty object', [{}]],
    ['the request of node:http alone', [{ method: 'GET', headers: {}, url: '/ready' }]],
    ['null', [null]],
  ])('rejects %s, and names what to use', async (_name, given) => {
    await expect(call(...given)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('import ready from @call-webhooks/adapters/koa') as unknown,
    });
  });

  it.each([undefined, null, {}, 'hook', () => undefined])(
    'throws at start-up for %p, which has no receiver',
    (given) => {
      expect(() => ready(given as never)).toThrow('ready: expected a receiver');
    },
  );

  it('does not ask a handler for its receiver at start-up: Next creates it at the first request', () => {
    const handler = {
      get receiver(): never {
        throw new Error('asked');
      },
    };
    expect(() => ready(handler)).not.toThrow();
  });

  const port = (status: 'up' | 'down' | 'unknown') => ({
    status,
    durationMs: 7,
    error: 'connect ECONNREFUSED db.internal:5432',
  });
  const healthy = {
    ...{ ok: true, closing: false, store: port('up'), deadLetter: port('down') },
    ...{ secretIds: ['crm'], unknownFields: [] },
  };
  const worker = { ok: true, closing: false, queue: port('up'), running: 3 };
  it.each<[what: string, health: object, status: number, shown: object]>([
    [
      'a receiver with everything',
      { ...healthy, queue: port('up'), secrets: port('up') },
      200,
      { ok: true, closing: false, store: 'up', queue: 'up', secrets: 'up' },
    ],
    [
      'a receiver that is full',
      { ...healthy, ok: false, overloaded: true },
      503,
      { ok: false, closing: false, overloaded: true, store: 'up' },
    ],
    [
      'a receiver that closes, whose store has no ping',
      { ...healthy, ok: false, closing: true, store: port('unknown') },
      503,
      { ok: false, closing: true, store: 'unknown' },
    ],
    [
      'a receiver without secrets',
      { ...healthy, ok: false, queue: port('down'), secrets: port('down') },
      503,
      { ok: false, closing: false, store: 'up', queue: 'down', secrets: 'down' },
    ],
    [
      'a worker',
      { ...worker, lastContactAt: new Date(), lastJobAt: new Date() },
      200,
      { ok: true, closing: false, queue: 'up' },
    ],
    [
      'a worker that is paused',
      { ...worker, ok: false, paused: true },
      503,
      { ok: false, closing: false, paused: true, queue: 'up' },
    ],
    [
      'a worker that closes, whose queue is down',
      { ...worker, ok: false, closing: true, queue: port('down') },
      503,
      { ok: false, closing: true, queue: 'down' },
    ],
  ])('shows of %s no more than anybody may know, in each form', async (_what, health, ...shown) => {
    const handle = ready({ health: () => Promise.resolve(health as never) }) as typeof call;
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    const fetched = (await handle()) as Response;
    expect(Object.fromEntries(fetched.headers)).toEqual(headers);
    expect([fetched.status, await fetched.json()]).toEqual(shown);
    const written: unknown[] = [];
    const end = (body: string) => written.push(JSON.parse(body));
    const writeHead = (...head: unknown[]) => (written.push(...head), { end });
    await handle({}, { writeHead });
    expect(written).toEqual([shown[0], headers, shown[1]]);
    const replied: unknown[] = [];
    const reply = {
      code: (status: number) => (replied.push(status), reply),
      headers: (given: object) => (replied.push(given), reply),
      send: (body: string) => replied.push(JSON.parse(body)),
    };
    await handle({}, reply);
    expect(replied).toEqual([shown[0], headers, shown[1]]);
  });
});
