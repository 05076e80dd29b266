import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { createReceiver } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { routeHandlerServer, serveLocally } from '@call-webhooks/contract-tests';
import { callWebhooks as expressReceiver } from '@call-webhooks/express';
import { callWebhooks as fastifyReceiver } from '@call-webhooks/fastify';
import { callWebhooks as honoReceiver } from '@call-webhooks/adapters/hono';
import { callWebhooks as koaReceiver } from '@call-webhooks/adapters/koa';
import { callWebhooks as nextReceiver } from '@call-webhooks/next';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { Effects } from './effects.ts';
import { gradedReceiver, SECRETS, type GradedReceiver } from './graded-receiver.ts';

type Handle = Effects['handle'];

const quiet = () => undefined;

function optionsOf(handle: Handle) {
  return {
    secret: SECRETS,
    on: {
      'call:started': handle,
      'call:completed': handle,
      'call:recording-available': handle,
    },
    logger: { warn: quiet, error: quiet },
  };
}

/** Our receiver, as its users mount it. */
export const OUR_MOUNTS: Readonly<Record<string, () => Promise<GradedReceiver>>> = {
  'node:http': () =>
    gradedReceiver(async (handle) => {
      const handler = createNodeHandler(optionsOf(handle));
      const { origin, ...server } = await serveLocally((request, response) => {
        void handler(request, response);
      });
      return {
        origin,
        close: () => handler.receiver.close({ graceMs: 0 }).then(() => server.close()),
      };
    }),
  Express: () =>
    gradedReceiver(async (handle) => {
      const handler = expressReceiver(optionsOf(handle));
      const { origin, ...server } = await serveLocally(express().all('/hook', handler));
      return {
        origin,
        close: () => handler.receiver.close({ graceMs: 0 }).then(() => server.close()),
      };
    }),
  Fastify: () =>
    gradedReceiver(async (handle) => {
      // Many start at once, and its plugins then take longer than it allows by default.
      const app = fastify({ pluginTimeout: 0 });
      const receiver = createReceiver(optionsOf(handle));
      app.register(fastifyReceiver({ path: '/hook', receiver }));
      const origin = await app.listen({ port: 0, host: '127.0.0.1' });
      return { origin, close: () => receiver.close({ graceMs: 0 }).then(() => app.close()) };
    }),
  'Next.js (route handler)': () =>
    gradedReceiver(async (handle) => {
      const handler = nextReceiver(optionsOf(handle));
      const { origin, ...server } = await routeHandlerServer(handler);
      return {
        origin,
        close: () => handler.receiver.close({ graceMs: 0 }).then(() => server.close()),
      };
    }),
  Hono: () =>
    gradedReceiver(async (handle) => {
      const hook = honoReceiver({ ...optionsOf(handle), path: '/hook' });
      const app = new Hono().use(hook);
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      return {
        origin: `http://127.0.0.1:${String(port)}`,
        async close() {
          await hook.receiver.close({ graceMs: 0 });
          server.close();
          await once(server, 'close');
        },
      };
    }),
  Koa: () =>
    gradedReceiver(async (handle) => {
      const hook = koaReceiver({ ...optionsOf(handle), path: '/hook' });
      const app = new Koa().use(hook);
      app.silent = true;
      const callback = app.callback();
      const { origin, ...server } = await serveLocally((request, response) => {
        void callback(request, response);
      });
      return {
        origin,
        close: () => hook.receiver.close({ graceMs: 0 }).then(() => server.close()),
      };
    }),
};
