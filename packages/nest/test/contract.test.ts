import { adapterContractTests } from '@call-webhooks/contract-tests';
import { CallWebhooks } from '../src/index.ts';
import { moduleWith } from './module-with.ts';
import { createApp, PLATFORMS } from './platforms.ts';

for (const [name, platform] of PLATFORMS) {
  adapterContractTests({
    name: `Nest on ${name}`,
    async mount(options) {
      const app = await createApp(moduleWith(options), platform);
      await app.listen(0, '127.0.0.1');
      const { receiver } = app.get(CallWebhooks);
      return { url: `${await app.getUrl()}/hook`, receiver, close: () => app.close() };
    },
  });
}
