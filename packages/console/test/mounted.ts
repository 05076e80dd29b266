import { afterEach } from '@jest/globals';
import { getRequestListener } from '@hono/node-server';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import express from 'express';
import fastify from 'fastify';
import { createConsole, type ConsoleOptions } from '../src/index.ts';

/** Called after the test, the last one first. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export const secret = generateSecret();

export function make(options: Partial<ConsoleOptions> = {}) {
  const receiver = createReceiver({ secret, on: { 'call:completed': () => undefined } });
  const authorize: ConsoleOptions['authorize'] = ({ headers }) =>
    headers.get('x-user') === 'ada' && { name: 'Ada' };
  const console = createConsole({ receiver, authorize, logger: collectingLogger(), ...options });
  closing.push(() => console.close());
  const hook = nodeHandler(receiver);
  return { receiver, console, hook };
}

const serve = async (...args: Parameters<typeof serveLocally>) => {
  const served = await serveLocally(...args);
  closing.push(served.close);
  return served.origin;
};

/** A console at `/ops/webhooks` in each framework, and a receiver at `/hook`. */
export const apps: [string, (typed?: Partial<ConsoleOptions>) => Promise<string>][] = [
  [
    'Express',
    async (options) => {
      const { console, hook } = make(options);
      const app = express();
      app.use('/ops/webhooks', console);
      app.all('/hook', hook);
      app.post('/ops/webhooks/hook', hook);
      return serve(app);
    },
  ],
  [
    'Express behind express.json()',
    async (options) => {
      const { console, hook } = make(options);
      const app = express();
      app.all('/hook', hook);
      app.use(express.json(), express.urlencoded());
      app.use('/ops/webhooks', console);
      return serve(app);
    },
  ],
  [
    'a router of Express in another',
    async (options) => {
      const { console, hook } = make(options);
      const ops = express.Router().use('/webhooks', console);
      return serve(express().all('/hook', hook).use('/ops', ops));
    },
  ],
  [
    'Fastify',
    async (options) => {
      const { console, hook } = make(options);
      const app = fastify();
      closing.push(() => app.close());
      await app.register(console.fastify, { prefix: '/ops/webhooks' });
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, payload, done) => {
        done(null, payload);
      });
      for (const url of ['/hook', '/ops/webhooks/hook'])
        app.post(url, async (request, reply) => {
          reply.hijack();
          await hook(request.raw, reply.raw);
        });
      return app.listen({ port: 0, host: '127.0.0.1' });
    },
  ],
  [
    'fetch, as Next and Hono call it',
    async (options) => {
      const { console, hook } = make({ path: '/ops/webhooks/', ...options });
      const listener = getRequestListener(console.fetch);
      return serve((request, response) => {
        const { pathname } = new URL(request.url ?? '/', 'http://x');
        void (pathname === '/hook' ? hook(request, response) : listener(request, response));
      });
    },
  ],
  [
    'node:http',
    async (options) => {
      const { console, hook } = make({ path: '/ops/webhooks', ...options });
      return serve((request, response) => {
        if (request.url === '/hook') void hook(request, response);
        else console(request, response);
      });
    },
  ],
];
