import * as runner from '@jest/globals';
import { storeContractTests } from '@call-webhooks/store-tests';
import { sqliteStore } from '../src/index.ts';
import { eachClient, freshFile, refusalsOf } from './support.ts';

eachClient((client) => {
  storeContractTests(runner, {
    name: `sqliteStore on ${client.name}, four connections`,
    without: ['clock'],
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
        size: async () =>
          [
            ...['ids', 'events', 'groups'],
            ...['batches', 'rows', 'counts', 'marks', 'processes'].map((name) => `log_${name}`),
          ]
            .map(
              (table) => handles[0]!.prepare(`SELECT 1 FROM call_webhooks_${table}`).all().length,
            )
            .reduce((sum, count) => sum + count, 0),
        refusals: refusalsOf(handles, file),
        setNewer: (isNewer) =>
          void handles[0]!.exec(
            `UPDATE call_webhooks_schema SET version = version ${isNewer ? '+ 1' : '- 1'}`,
          ),
        close() {
          for (const handle of handles) handle.close();
          remove();
          return Promise.resolve();
        },
      });
    },
  });
});
