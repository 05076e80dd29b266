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
});
