import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import { createNodeHandler } from '../src/node.ts';
import { createWebHandler } from '../src/web.ts';
import { delivery, Lines, NOW, SECRET, STARTED } from './support.ts';

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

describe('a handler called by the wrong framework says so, and runs nothing', () => {
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
    ['createWebHandler', createWebHandler(options), 'pass c.req.raw'],
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

  it('createNodeHandler with a Koa context', () => {
    const handler = createNodeHandler(options) as unknown as (...args: unknown[]) => unknown;
    expect(() => handler({ req: {}, res: {} }, () => undefined)).toThrow('ctx.req and ctx.res');
  });
});
