import { adapterBattery, listening } from '@call-webhooks/contract-tests';
import { createNodeHandler } from '../src/node.ts';

adapterBattery({
  name: 'node:http',
  async mount(options) {
    const handler = createNodeHandler(options);
    const { origin, close } = await listening(
      (request, response) => void handler(request, response),
    );
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
