import { adapterContractTests } from '@call-webhooks/contract-tests';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callWebhooks, ready } from '../../src/hono.ts';

for (const [name, path] of [
  ['Hono', '/hook'],
  ['Hono, with a trailing slash', '/hook/'],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const hook = callWebhooks({ path: '/hook', ...options });
      const app = new Hono();
      app.use(hook).get('/ready', ready(hook));
      const server = createAdaptorServer({ fetch: app.fetch }) as Server;
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const origin = `http://127.0.0.1:${String(port)}`;
      return {
        url: origin + path,
        readyUrl: `${origin}/ready`,
        receiver: hook.receiver,
        async close() {
          server.closeAllConnections();
          server.close();
          await once(server, 'close');
        },
      };
    },
  });
}
