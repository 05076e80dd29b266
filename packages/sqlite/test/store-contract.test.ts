import { storeContractTests } from '@call-webhooks/contract-tests';
import { sqliteStore } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

eachClient((client) => {
  storeContractTests({
    name: `sqliteStore on ${client.name}, four connections`,
    without: ['refusals', 'clock'],
    open() {
      const { file, remove } = freshFile();
      const handles = Array.from({ length: 4 }, () => client.open(file));
      let ahead = 0;
      const now = () => Date.now() + ahead;
      const [store, ...others] = handles.map((handle) => sqliteStore(handle, { now }));
      return Promise.resolve({
        store: store!,
        others,
        now,
        advance: (ms) => void (ahead += ms),
        close() {
          for (const handle of handles) handle.close();
          remove();
          return Promise.resolve();
        },
      });
    },
  });
});
