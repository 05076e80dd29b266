import { createServer } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, generateSecret, memoryStore, type Receiver } from '@call-webhooks/core';
import { createNodeHandler, nodeHandler } from '@call-webhooks/core/node';
import { createWebHandler, webHandler } from '@call-webhooks/core/web';
import { callWebhooks as expressHandler } from '@call-webhooks/express';
import { callWebhooks as fastifyPlugin } from '@call-webhooks/fastify';
import { callWebhooks as nextHandler } from '@call-webhooks/next';
import { callWebhooks as pagesHandler } from '@call-webhooks/next/pages';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { moduleWith } from '../../nest/test/module-with.ts';
import { createApp as createNestApp, PLATFORMS } from '../../nest/test/platforms.ts';
import {
  callCompleted,
  createTestClock,
  deliver,
  deliverTwice,
  forged,
  signedRequest,
  TEST_SECRET,
  type Target,
} from '../src/index.ts';

const silent = { warn: () => undefined, error: () => undefined };
const options = (handle: () => unknown) => ({
  secret: TEST_SECRET,
  logger: silent,
  on: { 'call:completed': handle },
});
type Mount = (receiver: Receiver, handle: () => unknown) => Target | Promise<Target>;

const TARGETS: Record<string, Mount> = {
  'a receiver': (receiver) => receiver,
  'an Express app': (receiver) => {
    const app = express();
    app.all('/hook', nodeHandler(receiver));
    app.use(express.json());
    return app;
  },
  'a handler of Express': (_receiver, handle) => expressHandler(options(handle)),
  'a Fastify instance': (receiver) => {
    const app = fastify();
    void app.register(fastifyPlugin({ path: '/hook', receiver }));
    return app;
  },
  'a Koa app': (receiver) => {
    const app = new Koa();
    app.use((ctx) => {
      ctx.respond = false;
      return nodeHandler(receiver)(ctx.req, ctx.res);
    });
    return app;
  },
  ...Object.fromEntries(
    PLATFORMS.map(([name, platform]): [string, Mount] => [
      `a Nest app on ${name}`,
      (_receiver, handle) => createNestApp(moduleWith(options(handle)), platform),
    ]),
  ),
  'a Hono app': (receiver) => {
    const hook = webHandler(receiver);
    return new Hono().post('/hook', (c) => hook(c.req.raw));
  },
  'a route handler of Next': (_receiver, handle) => nextHandler(options(handle)),
  'an API route of Next': (_receiver, handle) => pagesHandler(options(handle)),
  'a handler for node:http': (_receiver, handle) => createNodeHandler(options(handle)),
  'a handler for fetch': (_receiver, handle) => createWebHandler(options(handle)),
  'a function for fetch': (receiver) => async (request: Request) => webHandler(receiver)(request),
  'a server': (receiver) =>
    createServer((request, response) => void nodeHandler(receiver)(request, response)),
};

describe.each(Object.entries(TARGETS))('%s', (name, mount) => {
  const start = async () => {
    const handle = jest.fn<() => void>();
    return { handle, target: await mount(createReceiver(options(handle)), handle) };
  };

  it('runs the handler once, and a duplicate does not', async () => {
    const { handle, target } = await start();
    const outcomes = (await deliverTwice(target, callCompleted())).map(({ outcome }) => outcome);
    expect([outcomes, handle.mock.calls.length]).toEqual([['handled', 'duplicate'], 1]);
  });

  it('takes two deliveries at once, although the app has not been started', async () => {
    const { handle, target } = await start();
    const event = callCompleted();
    const results = await Promise.all([deliver(target, event), deliver(target, event)]);
    expect(results.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('is asked at the path that is given', async () => {
    const { handle, target } = await start();
    const elsewhere = deliver(target, callCompleted(), { path: '/elsewhere' });
    const hasRoutes = /Express app|Fastify|Nest|Hono/.test(name);
    if (!hasRoutes) expect((await elsewhere).outcome).toBe('handled');
    else await expect(elsewhere).rejects.toThrow('nothing is mounted at POST /elsewhere');
    expect(handle).toHaveBeenCalledTimes(hasRoutes ? 0 : 1);
  });

  it('responds 401 to a forgery', async () => {
    const { handle, target } = await start();
    expect(await forged(target, callCompleted())).toEqual({
      status: 401,
      body: '{"outcome":"signature-mismatch"}',
      outcome: 'signature-mismatch',
    });
    expect(handle).not.toHaveBeenCalled();
  });

  it('responds 500 when the handler fails, and runs it again on the next attempt', async () => {
    const { handle, target } = await start();
    handle.mockImplementationOnce(() => {
      throw new Error('the CRM is down');
    });
    const attempts = await deliverTwice(target, callCompleted());
    expect(attempts.map(({ status }) => status)).toEqual([500, 200]);
  });

  it('passes the exact bytes on', async () => {
    const { target } = await start();
    const body = '{ "eventName": "call:completed",\n"callId": "Zo\\u00eb ☎" }';
    expect((await deliver(target, body)).outcome).toBe('handled');
    expect((await deliver(target, new TextEncoder().encode(body))).outcome).toBe('duplicate');
  });
});

describe('signing', () => {
  const before = process.env['CALL_WEBHOOK_SECRET'];
  afterEach(() => {
    process.env['CALL_WEBHOOK_SECRET'] = before;
    if (before === undefined) delete process.env['CALL_WEBHOOK_SECRET'];
  });

  it('uses the secret of the environment', async () => {
    const secret = (process.env['CALL_WEBHOOK_SECRET'] = generateSecret());
    const receiver = createReceiver({ secret, logger: silent });
    expect(await deliver(receiver, callCompleted())).toMatchObject({ outcome: 'ignored' });
  });

  it('follows a clock', async () => {
    const clock = createTestClock(new Date('2030-01-01'));
    const store = memoryStore({ now: clock.now });
    const receiver = createReceiver({ ...options(() => undefined), store, now: clock.now });
    const event = callCompleted();
    const signed = await signedRequest(event, { now: clock.now, webhookId: 'w-1' });
    const outcome = async (event: string, more: object = {}) =>
      (await deliver(receiver, event, { now: clock.now, ...more })).outcome;
    expect(await outcome(signed.body, { webhookId: 'w-1' })).toBe('handled');
    expect(await outcome(signed.body, { webhookId: 'w-1' })).toBe('replayed');
    clock.advance(301_000);
    const late = await receiver.receive({ ...signed, body: new TextEncoder().encode(signed.body) });
    expect(late.outcome.outcome).toBe('timestamp-out-of-tolerance');
    expect(await outcome(signed.body)).toBe('duplicate');
    clock.advance(24 * 60 * 60_000);
    expect(await outcome(signed.body)).toBe('handled'); // the store has forgotten it
  });

  it('signs under other header names', async () => {
    const own = createReceiver({ ...options(() => undefined), headerPrefix: 'X-Own' });
    const result = await deliver(own, callCompleted(), { headerPrefix: 'X-Own' });
    expect(result.outcome).toBe('handled');
    const { status } = await deliver(own, callCompleted(), {
      headerPrefix: 'X-Own',
      headers: { 'content-encoding': 'gzip' },
    });
    expect(status).toBe(415);
  });

  it.each(['content-type', 'Content-Type', 'X-Service-Timestamp', 'x-service-timestamp'])(
    'a further header replaces that of the delivery, written as %s',
    async (name) => {
      const options = { headers: { [name]: '1', 'X-More': 'yes' } };
      const { headers, toRequest } = await signedRequest(callCompleted(), options);
      expect(headers).toMatchObject(options.headers);
      const sent = toRequest().headers;
      expect([sent.get(name), sent.get('x-more')]).toEqual(['1', 'yes']);
      expect([...sent.keys()].sort()).toEqual([
        ...['content-type', 'x-more', 'x-service-signature', 'x-service-timestamp'],
        'x-service-webhook-id',
      ]);
    },
  );

  it('gives a request for any client', async () => {
    const hook = createWebHandler(options(() => undefined));
    const { method, headers, body, toRequest } = await signedRequest(callCompleted());
    const sent = new Request('http://localhost/', { method, headers, body });
    expect((await hook(sent)).status).toBe(200);
    expect((await hook(toRequest())).status).toBe(409); // the same webhook id
    expect(toRequest('https://example.com/x').url).toBe('https://example.com/x');
  });
});
