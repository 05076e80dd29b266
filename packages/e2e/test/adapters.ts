import { createReceiver } from '@call-webhooks/core';
import { callWebhooks as express } from '@call-webhooks/express';
import fastifyPlugin from '@call-webhooks/fastify';
import { callWebhooks as nextApp } from '@call-webhooks/next';
import { callWebhooks as nextPages } from '@call-webhooks/next/pages';
import {
  serveLocally,
  routeHandlerServer,
  type AdapterUnderTest,
} from '@call-webhooks/contract-tests';
import expressFramework from 'express';
import fastifyFramework from 'fastify';

/** Every adapter, mounted as its users mount it, on a free port. */
export const ADAPTERS: readonly AdapterUnderTest[] = [
  {
    name: 'Express',
    async mount(options) {
      const handler = express(options);
      const { origin, close } = await serveLocally(expressFramework().all('/hook', handler));
      return { url: `${origin}/hook`, receiver: handler.receiver, close };
    },
  },
  {
    name: 'Fastify',
    async mount(options) {
      const app = fastifyFramework();
      const receiver = createReceiver(options);
      app.register(fastifyPlugin({ path: '/hook', receiver }));
      const origin = await app.listen({ port: 0, host: '127.0.0.1' });
      return { url: `${origin}/hook`, receiver, close: () => app.close() };
    },
  },
  {
    name: 'Next.js App Router',
    async mount(options) {
      const handler = nextApp(options);
      const { origin, close } = await routeHandlerServer(handler);
      return { url: `${origin}/hook`, receiver: handler.receiver, close };
    },
  },
  {
    name: 'Next.js Pages Router',
    async mount(options) {
      const handler = nextPages(options);
      const { origin, close } = await serveLocally(
        (request, response) => void handler(request, response),
      );
      return { url: `${origin}/hook`, receiver: handler.receiver, close };
    },
  },
];
