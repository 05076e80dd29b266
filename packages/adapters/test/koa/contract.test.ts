import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import { callWebhooks } from '../../src/koa.ts';

for (const [name, path] of [
  ['Koa 3', '/hook'],
  ['Koa 3, with a trailing slash', '/hook/'],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const hook = callWebhooks({ path: '/hook', ...options });
      const listener = new Koa().use(hook).callback();
      const { origin, close } = await serveLocally((req, res) => void listener(req, res));
      return { url: origin + path, receiver: hook.receiver, close };
    },
  });
}
