import { adapterContractTests } from '@call-webhooks/contract-tests';
import { callWebhooks, ready } from '../src/index.ts';
import { routeHandlerServer } from './route-handler-server.ts';

adapterContractTests({
  name: 'Next.js App Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const { origin, close } = await routeHandlerServer(handler, ready(handler));
    const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
    return { url, readyUrl, receiver: handler.receiver, close };
  },
});
