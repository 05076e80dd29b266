import { adapterContractTests } from '@call-webhooks/contract-tests';
import { callWebhooks } from '../src/index.ts';
import { routeHandlerServer } from './route-handler-server.ts';

adapterContractTests({
  name: 'Next.js App Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const { origin, close } = await routeHandlerServer(handler);
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
