import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createSqliteWorker,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
  type SqliteWorker,
} from '../src/index.ts';
import { useFile } from './support.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const TEN_YEARS = 3_650 * DAY;

const test = useFile();
const workers: SqliteWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
});

const store: Create = (options) => sqliteStore(test.db, options);
const queue: Create = (options) => sqliteQueue(test.db, options);
const letters: Create = (options) => sqliteDeadLetters(test.db, options);
const worker: Create = (options) => {
  const made = createSqliteWorker(sqliteQueue(test.db), options);
  workers.push(made);
  return made;
};

/** An option, its limits, what has it, and what it is unless it is given; absent if nobody can see it. */
type Row = [what: string, name: string, min: number, max: number, create: Create, usual?: unknown];
type Create = (options: object) => object;

describe('every number that an option may be', () => {
  it.each<Row>([
    ['sqliteStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
    ['sqliteQueue', 'rememberFor', 10 * MINUTE, TEN_YEARS, queue],
    ['sqliteQueue', 'keepFor', HOUR, TEN_YEARS, queue, undefined],
    ['sqliteDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
    ['createSqliteWorker', 'concurrency', 1, 10_000, worker],
    ['createSqliteWorker', 'maxRuns', 1, 1_000_000, worker],
    ['createSqliteWorker', 'leaseFor', 10, 15 * MINUTE, worker],
    ['createSqliteWorker', 'pollEvery', 1, 2 ** 31 - 1, worker],
  ])(
    '%s: %s is from %d to %d, and is used as it is given',
    (_what, name, min, max, create, ...usual) => {
      const isShown = usual.length > 0;
      if (isShown) expect(create({})).toHaveProperty(name, usual[0]);
      for (const taken of [min, max]) {
        const made = create({ [name]: taken });
        if (isShown) expect(made).toHaveProperty(name, taken);
      }
      for (const refused of [min - 1, max + 1, min + 0.5, `${String(min)} ms`, NaN, null])
        expect(() => create({ [name]: refused })).toThrow(`${name}: expected`);
    },
  );
});
