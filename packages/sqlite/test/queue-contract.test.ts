import { queueContractTests } from '@call-webhooks/contract-tests';
import { createSqliteWorker, sqliteQueue } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

eachClient((client) => {
  queueContractTests({
    name: `sqliteQueue on ${client.name}, its workers on connections of their own`,
    open({ maxRuns, concurrency }) {
      const { file, remove } = freshFile();
      const handles: { close(): unknown }[] = [];
      const connect = () => {
        const handle = client.open(file);
        handles.push(handle);
        return sqliteQueue(handle);
      };
      const queue = connect();
      return Promise.resolve({
        queue,
        startWorker: (handlers) =>
          Promise.resolve(
            createSqliteWorker(connect(), {
              ...handlers,
              maxRuns,
              concurrency,
              backoff: { initialDelay: 5, maxDelay: 5 },
              pollEvery: 10,
            }),
          ),
        deadLetters: async () => (await queue.deadLetters()).map(({ delivery }) => delivery),
        close() {
          for (const handle of handles) handle.close();
          remove();
          return Promise.resolve();
        },
      });
    },
  });
});
