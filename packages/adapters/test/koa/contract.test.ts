import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import { callWebhooks, ready } from '../../src/koa.ts';

for (const [name, path] of [
  ['Koa 3', '/hook'],
  ['Koa 3, with a trailing slash', '/hook/'],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const hook = callWebhooks({ path: '/hook', ...options });
      const app = new Koa().use(hook).use(ready(hook));
      app.silent = true; // clients that end a connection are a part of the tests
      const listener = app.callback();
      const { origin, close } = await serveLocally((req, res) => void listener(req, res));
      return { url: origin + path, readyUrl: `${origin}/ready`, receiver: hook.receiver, close };
    },
  });
}
