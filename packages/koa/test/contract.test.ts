import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import Koa2 from 'koa2';
import { callWebhooks } from '../src/index.ts';

for (const [name, Framework, path] of [
  ['Koa 3', Koa, '/hook'],
  ['Koa 3, with a trailing slash', Koa, '/hook/'],
  ['Koa 2', Koa2, '/hook'],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const hook = callWebhooks({ path: '/hook', ...options });
      const app = new Framework().use(hook).use(bodyParser());
      const listener = app.callback();
      const { origin, close } = await serveLocally((req, res) => void listener(req, res));
      return { url: origin + path, receiver: hook.receiver, close };
    },
  });
}
