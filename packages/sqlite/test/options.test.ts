import { afterEach } from '@jest/globals';
import {
  type CreateWith,
  DAY,
  HOUR,
  MINUTE,
  numberOptionsTests,
  TEN_YEARS,
} from '@call-webhooks/contract-tests';
import {
  createSqliteWorker,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
  type SqliteWorker,
} from '../src/index.ts';
import { useFile } from './support.ts';

const test = useFile();
const workers: SqliteWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
});

const store: CreateWith = (options) => sqliteStore(test.db, options);
const queue: CreateWith = (options) => sqliteQueue(test.db, options);
const letters: CreateWith = (options) => sqliteDeadLetters(test.db, options);
const worker: CreateWith = (options) => {
  const made = createSqliteWorker(sqliteQueue(test.db), options);
  workers.push(made);
  return made;
};

numberOptionsTests([
  ['sqliteStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
  ['sqliteQueue', 'rememberFor', 10 * MINUTE, TEN_YEARS, queue],
  ['sqliteQueue', 'keepFor', HOUR, TEN_YEARS, queue, undefined],
  ['sqliteDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
  ['createSqliteWorker', 'concurrency', 1, 10_000, worker],
  ['createSqliteWorker', 'maxRuns', 1, 1_000_000, worker],
  ['createSqliteWorker', 'leaseFor', 10, 15 * MINUTE, worker],
  ['createSqliteWorker', 'pollEvery', 1, 2 ** 31 - 1, worker],
]);
