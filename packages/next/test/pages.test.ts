import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import { callWebhooks } from '../src/pages.ts';

adapterContractTests({
  name: 'Next.js Pages Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const { origin, close } = await serveLocally(
      (request, response) => void handler(request, response),
    );
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
