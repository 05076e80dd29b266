import * as runner from '@jest/globals';
import { queueContractTests } from '@call-webhooks/store-tests';
import { createSqliteWorker, sqliteQueue } from '../src/index.ts';
import { deadDeliveries, eachClient, freshFile, refusalsOf, type Handle } from './support.ts';

eachClient((client) => {
  queueContractTests(runner, {
    name: `sqliteQueue on ${client.name}, its workers on connections of their own`,

    open({ maxRuns, concurrency }) {
      const { file, remove } = freshFile();
      const handles: Handle[] = [];
      const connect = () => {
        const handle = client.open(file);
        handles.push(handle);
        return handle;
      };
      const db = connect();
      const queue = sqliteQueue(db);
      return Promise.resolve({
        queue,
        refusals: refusalsOf(handles, file),
        startWorker: (handlers) =>
          Promise.resolve(
            createSqliteWorker(sqliteQueue(connect()), {
              ...handlers,
              maxRuns,
              concurrency,
              backoff: { initialDelay: 5, maxDelay: 5 },
              pollEvery: 10,
            }),
          ),
        deadLetters: () => deadDeliveries(db),
        close() {
          for (const handle of handles) handle.close();
          remove();
          return Promise.resolve();
        },
      });
    },
  });
});
