import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import { callWebhooks, ready } from '../src/pages.ts';

adapterContractTests({
  name: 'Next.js Pages Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const probed = ready(handler);
    const { origin, close } = await serveLocally(
      (request, response) => void (request.url === '/ready' ? probed : handler)(request, response),
    );
    const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
    return { url, readyUrl, receiver: handler.receiver, close };
  },
});
