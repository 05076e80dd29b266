import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { callWebhooks } from '../src/index.ts';

for (const [name, path] of [
  ['Koa', '/hook'],
  ['Koa, with a trailing slash', '/hook/'],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const hook = callWebhooks({ path: '/hook', ...options });
      const app = new Koa().use(hook).use(bodyParser());
      const listener = app.callback();
      const { origin, close } = await serveLocally((req, res) => void listener(req, res));
      return { url: origin + path, receiver: hook.receiver, close };
    },
  });
}
