import { expect, it } from '@jest/globals';
import { deadJobsContractTests } from '@call-webhooks/contract-tests';
import { createSqliteWorker, sqliteDeadJobs, sqliteQueue } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

eachClient((client) => {
  deadJobsContractTests({
    name: `sqliteDeadJobs on ${client.name}`,
    keepsAttempts: true,
    open({ maxRuns, concurrency }) {
      const { file, remove } = freshFile();
      const handles: { close(): unknown }[] = [];
      const connect = () => {
        const handle = client.open(file);
        handles.push(handle);
        return sqliteQueue(handle);
      };
      const queue = connect();
      const backoff = { initialDelay: 5, maxDelay: 5 };
      return Promise.resolve({
        queue,
        startWorker: (handlers) =>
          Promise.resolve(
            createSqliteWorker(connect(), {
              ...handlers,
              ...{ maxRuns, concurrency, backoff, pollEvery: 10 },
            }),
          ),
        deadJobs: sqliteDeadJobs(queue),
        others: sqliteDeadJobs(connect()),
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

it('is made of a queue of this package only', () => {
  expect(() => sqliteDeadJobs({} as never)).toThrow(
    'Invalid queue of sqliteDeadJobs: expected one that sqliteQueue()',
  );
});
