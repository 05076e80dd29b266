import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { endsByItself, WORKER_PRINTED, workerProgram } from '@call-webhooks/contract-tests';
import { useFile } from './support.ts';

const test = useFile();

it('a process with a store, a queue and a worker ends by itself once they are closed', async () => {
  const program = workerProgram({
    imports: `import Database from 'libsql';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';`,
    open: `const db = new Database(${JSON.stringify(test.file)});
const store = sqliteStore(db);
const queue = sqliteQueue(db);
const startWorker = (options: object) => createSqliteWorker(queue, { pollEvery: 10, ...options });`,
    close: '',
  });
  expect(await endsByItself(fileURLToPath(new URL('.', import.meta.url)), program)).toBe(
    WORKER_PRINTED,
  );
});
