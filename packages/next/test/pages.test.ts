import { adapterBattery, listening } from '@call-webhooks/contract-tests';
import { callWebhooks } from '../src/pages.ts';

adapterBattery({
  name: 'Next.js Pages Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const { origin, close } = await listening(
      (request, response) => void handler(request, response),
    );
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
