import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import { createNodeHandler } from '../src/node.ts';

adapterContractTests({
  name: 'node:http',
  async mount(options) {
    const handler = createNodeHandler(options);
    const { origin, close } = await serveLocally(
      (request, response) => void handler(request, response),
    );
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
