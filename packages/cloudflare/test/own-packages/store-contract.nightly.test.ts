import { storeContractTests } from '@call-webhooks/contract-tests';
import { startStoreWorkers } from './store-workers.ts';
import { callStore, freshFolder, storeAt } from './support.ts';

storeContractTests({
  name: 'durableObjectStore in workerd, two Workers',
  without: ['log'],
  async open() {
    const { folder, remove } = await freshFolder();
    const workers = await startStoreWorkers(folder);
    let ahead = 0;
    return {
      store: storeAt(workers.urls[0]),
      others: [storeAt(workers.urls[1])],
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
