import * as runner from '@jest/globals';
import { storeContractTests } from '@call-webhooks/store-tests';
import { startStoreWorkers } from './store-workers.ts';
import { callStore, freshFolder, storeAt } from './support.ts';

storeContractTests(runner, {
  name: 'durableObjectStore in workerd, two Workers',
  without: ['log', 'refusals', 'size'],
  async open() {
    const { folder, remove } = await freshFolder();
    const workers = await startStoreWorkers(folder);
    let ahead = 0;
    const [first, second] = workers.urls;
    return {
      store: storeAt(first, () => ahead),
      others: [storeAt(second, () => ahead)],
      skewed: (ms) => storeAt(first, () => ahead + ms),
      now: () => Date.now() + ahead,
      async advance(ms) {
        ahead += ms;
        await callStore(workers.urls[0], 'advance', ms);
      },
      async close() {
        await workers.close();
        await remove();
      },
    };
  },
});
