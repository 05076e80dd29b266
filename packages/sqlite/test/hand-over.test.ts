import { describe, expect, it, jest } from '@jest/globals';
import { isBusy } from '../src/database.ts';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
  type SqliteDatabase,
  type SqliteQueue,
} from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

const lookAlikes: [string, unknown, string][] = [
  ['nothing', undefined, 'it has no exec()'],
  ['a file name', 'calls.db', 'it has no exec()'],
  ['@libsql/client', { execute: () => undefined, batch: () => undefined }, 'it has no exec()'],
  [
    'Cloudflare D1',
    { exec: () => undefined, prepare: () => undefined, batch: () => undefined },
    'Cloudflare D1 is asynchronous',
  ],
  [
    'the SQL storage of a Durable Object',
    { exec: () => undefined, databaseSize: 4_096 },
    'Durable Objects',
  ],
  [
    'a client with promises',
    { exec: () => undefined, prepare: () => ({ all: () => Promise.reject(new Error('later')) }) },
    'it is asynchronous',
  ],
  [
    'a client with callbacks, such as sqlite3',
    {
      exec: () => undefined,
      prepare: () => ({
        all() {
          return this;
        },
      }),
    },
    'has callbacks',
  ],
];

describe('what is no SQLite handle', () => {
  it.each(lookAlikes)('is refused at once: %s', (_name, db, mistake) => {
    for (const create of [sqliteStore, sqliteQueue])
      expect(() => create(db as SqliteDatabase)).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining(mistake),
        }),
      );
  });
});

describe('a handle that fails', () => {
  const failing = (error: Error): SqliteDatabase => ({
    exec: () => undefined,
    prepare() {
      throw error;
    },
  });

  it('is refused with its error, unless it is only busy', () => {
    for (const create of [sqliteStore, sqliteQueue]) {
      expect(() => create(failing(new Error('file is not a database')))).toThrow(
        'it failed: Error: file is not a database',
      );
      expect(() => create(failing(new Error('database is locked')))).not.toThrow();
    }
  });

  it('is refused without an unhandled rejection, if it fails later', () => {
    const rows = Promise.reject(new Error('later'));
    const handled = jest.spyOn(rows, 'catch');
    const db = { exec: () => undefined, prepare: () => ({ all: () => rows }) };
    expect(() => sqliteStore(db as never)).toThrow('it is asynchronous');
    expect(handled).toHaveBeenCalled();
  });
});

describe('invalid options', () => {
  const db = {
    exec: () => undefined,
    prepare: () => ({
      all: () => [{ one: 1 }],
      get: () => undefined,
      run: () => ({ changes: 0, lastInsertRowid: 0 }),
    }),
  };
  const invalid = (create: () => unknown, message: string) => {
    expect(create).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(message),
      }),
    );
  };

  it('name what was called with them', () => {
    for (const [name, create] of Object.entries({ sqliteStore, sqliteQueue, sqliteDeadLetters })) {
      invalid(() => create(db, { prefix: 'a-b' }), name);
      invalid(() => create({} as never), `Invalid database of ${name}: it has no exec()`);
    }
    const queue = sqliteQueue(db);
    invalid(() => createSqliteWorker(queue, { concurrency: 0 }), 'createSqliteWorker');
    invalid(() => createSqliteWorker({} as SqliteQueue, {}), 'queue of createSqliteWorker');
    invalid(() => sqliteDeadJobs({} as SqliteQueue), 'queue of sqliteDeadJobs');
  });

  it('are refused when a store, queue or worker is created', () => {
    for (const create of [sqliteStore, sqliteQueue]) {
      for (const rememberFor of [NaN, Infinity, 599_999, -1])
        invalid(() => create(db, { rememberFor }), 'rememberFor: expected whole milliseconds');
      invalid(() => create(db, { prefix: 'a-b' }), 'prefix: expected');
      invalid(() => create(db, { now: 5 as never }), 'now: expected a function');
      invalid(() => create(db, { remember: 5 } as never), '"remember"');
    }
    const queue = sqliteQueue(db);
    for (const [name, value] of Object.entries({
      concurrency: 0,
      leaseFor: 3_600_000,
      pollEvery: NaN,
      maxRuns: Infinity,
      backoff: { initialDelay: -1 },
      logger: {},
      on: { 'call:complete': () => undefined },
      pollevery: 5,
    }))
      invalid(() => createSqliteWorker(queue, { [name]: value }), name);
    invalid(() => createSqliteWorker({} as SqliteQueue, {}), 'sqliteQueue()');
  });
});

eachClient(({ name, open }) => {
  describe(`a locked file, on ${name}`, () => {
    it('is told from other errors', () => {
      const { file, remove } = freshFile();
      const [one, other] = [open(file), open(file)];
      other.exec('PRAGMA busy_timeout = 1');
      one.exec('BEGIN EXCLUSIVE');
      const errorOf = (sql: string): unknown => {
        try {
          return other.exec(sql);
        } catch (error) {
          return error;
        }
      };
      expect(isBusy(errorOf('CREATE TABLE t (a)'))).toBe(true);
      one.exec('ROLLBACK');
      expect(isBusy(errorOf('CREATE TABLE'))).toBe(false);
      one.close();
      other.close();
      remove();
    });
  });
});

describe('a locked file, on other clients', () => {
  it.each([
    ['Deno', new Error('database is locked')],
    ['Bun', Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY', errno: 5 })],
    ['better-sqlite3', Object.assign(new Error('x'), { code: 'SQLITE_BUSY_SNAPSHOT' })],
    [
      'a client with codes of its own',
      Object.assign(new Error('database is locked'), { code: 'E' }),
    ],
    ['node:sqlite', Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 261 })],
    ['a shared cache', new Error('database table is locked: jobs')],
  ])('is known on %s', (_name, error) => {
    expect(isBusy(error)).toBe(true);
  });

  it('is not mistaken for a full disk', () => {
    expect(isBusy(new Error('database or disk is full'))).toBe(false);
    const text = 'database is locked'; // a message does not count beside a code
    expect(isBusy(Object.assign(new Error(text), { errcode: 13 }))).toBe(false);
    expect(isBusy(Object.assign(new Error(text), { code: 'SQLITE_FULL' }))).toBe(false);
  });
});
