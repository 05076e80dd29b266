import { describe, expect, it, jest } from '@jest/globals';
import { deadLetter, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { isBusy, isMissingTable, isNestedBegin, isRefused, isUnwritable } from '../src/database.ts';
import {
  createSqliteWorker,
  migrate,
  sqliteDeadJobs,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
  type SqliteDatabase,
  type SqliteQueue,
  type SqliteStatement,
} from '../src/index.ts';
import { eachClient, freshFile, missingClients, type Handle } from './support.ts';

for (const missing of missingClients)
  it.skip(`the tests of SQLite leave out ${missing}`, () => undefined);

const CREATORS = { sqliteStore, sqliteQueue, sqliteDeadLetters };
const invalid = (message: string) =>
  expect.objectContaining({
    code: 'invalid-options',
    message: expect.stringContaining(message),
  });

describe('what is no SQLite handle', () => {
  const prepare = (all: () => unknown) => ({ exec: () => undefined, prepare: () => ({ all }) });
  it.each<[string, unknown, string]>([
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
      prepare(() => Promise.reject(new Error('later'))),
      'it is asynchronous',
    ],
    ['a client with callbacks, such as sqlite3', prepare(() => ({})), 'uses callbacks'],
    ['a client that returns no rows', prepare(() => []), 'its rows are not objects'],
    [
      'a client with names of its own',
      prepare(() => [{ an_integer: 1, a_text: 'a text', a_null: null }]),
      'its rows are not objects',
    ],
    [
      'a client with texts for integers',
      prepare(() => [{ anInteger: '1', aText: 'a text', aNull: null }]),
      'its rows are not objects',
    ],
    [
      'a client with bytes for texts',
      prepare(() => [{ anInteger: 1, aText: Buffer.from('a text'), aNull: null }]),
      'its rows are not objects',
    ],
  ])('is refused at once: %s', async (_name, db, mistake) => {
    for (const [name, create] of Object.entries(CREATORS)) {
      expect(() => create(db as SqliteDatabase)).toThrow(invalid(mistake));
      expect(() => create(db as SqliteDatabase)).toThrow(invalid(`Invalid database of ${name}`));
    }
    await expect(migrate(db as SqliteDatabase)).rejects.toEqual(invalid(mistake));
  });

  it('is refused with its error, unless it is only busy', () => {
    const failing = (error: Error) =>
      prepare(() => {
        throw error;
      }) as unknown as SqliteDatabase;
    for (const create of Object.values(CREATORS)) {
      expect(() => create(failing(new Error('file is not a database')))).toThrow(
        'it failed: Error: file is not a database',
      );
      expect(() => create(failing(new Error('database is locked')))).not.toThrow();
    }
  });

  it('is refused without an unhandled rejection, if it fails later', () => {
    const rows = Promise.reject(new Error('later'));
    const handled = jest.spyOn(rows, 'catch');
    expect(() => sqliteStore(prepare(() => rows) as never)).toThrow('it is asynchronous');
    expect(handled).toHaveBeenCalled();
  });
});

describe('invalid options', () => {
  const rows = [{ anInteger: 1, aText: 'a text', aNull: null }];
  const db = {
    exec: () => undefined,
    prepare: () => ({ all: () => rows, run: () => ({ changes: 0 }) }),
  };

  it('are refused when a store, queue, worker or dead letters are created', () => {
    for (const [name, create] of Object.entries(CREATORS)) {
      expect(() => create(db, { prefix: 'a-b' })).toThrow(invalid(`${name}: prefix: expected`));
      expect(() => create(db, { now: 5 as never })).toThrow(invalid('now: expected a function'));
      expect(() => create(db, { remember: 5 } as never)).toThrow(invalid('"remember"'));
    }
    for (const create of [sqliteStore, sqliteQueue])
      for (const rememberFor of [NaN, Infinity, 599_999, -1])
        expect(() => create(db, { rememberFor })).toThrow(
          invalid('rememberFor: expected whole milliseconds'),
        );
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
      expect(() => createSqliteWorker(queue, { [name]: value })).toThrow(invalid(name));
  });

  it('are queues that sqliteQueue did not make', () => {
    const queue = { ...sqliteQueue(db) };
    expect(() => createSqliteWorker(queue, {})).toThrow(invalid('queue of createSqliteWorker'));
    expect(() => sqliteDeadJobs({} as SqliteQueue)).toThrow(invalid('queue of sqliteDeadJobs'));
  });

  it('are events that there are not', () => {
    const on = { 'call:complete': () => undefined };
    // @ts-expect-error a misspelt event name does not compile
    expect(() => createSqliteWorker(sqliteQueue(db), { on })).toThrow(
      'there is no event "call:complete"',
    );
  });
});

/** A delivery, a repeated one, a cursor, a dead letter and jobs, whatever the client is told to return. */
async function useEverything(db: SqliteDatabase): Promise<void> {
  const store = sqliteStore(db);
  const claim = (webhookId: string, key: string, token: string) =>
    store.admit({
      ...{ webhookId, key, token, group: 'call', leaseMs: 60_000 },
      replayUntil: Date.now() + 600_000,
    });
  expect(await claim('w1', 'event', 't1')).toEqual({ status: 'admitted', attempt: 1 });
  expect(await claim('w1', 'event', 't2')).toEqual({ status: 'replayed' });
  expect(await claim('w2', 'event', 't2')).toEqual({ status: 'in-progress' });
  expect(await claim('w3', 'other', 't3')).toEqual({ status: 'group-busy' });
  expect(await store.extend('event', 't1', 60_000)).toBe(true);
  expect(await store.release('event', 't1')).toBe(true);
  expect(await store.release('event', 't1')).toBe(false);
  expect(await claim('w4', 'event', 't4')).toEqual({ status: 'admitted', attempt: 2 });
  db.exec('BEGIN');
  expect(store.completeIn(db, 'event', 'lost')).toBe(false);
  expect(store.completeIn(db, 'event', 't4')).toBe(true);
  db.exec('COMMIT');
  expect(await claim('w5', 'event', 't5')).toEqual({ status: 'duplicate' });
  await store.saveCursor?.('reconcile', 'page 2');
  expect(await store.loadCursor?.('reconcile')).toBe('page 2');

  const letters = sqliteDeadLetters(db);
  await letters.put(deadLetter({ key: 'event' }));
  expect(await letters.count()).toBe(1);
  const [letter] = (await letters.list()).letters;
  const claimed = await letters.claim(letter!.id, { token: 'one', leaseMs: 60_000 });
  expect(claimed!.claimedUntil!.getTime()).toBeGreaterThan(Date.now());
  expect(await letters.claim(letter!.id, { token: 'two', leaseMs: 60_000 })).toBeUndefined();

  const queue = sqliteQueue(db);
  const deadJobs = sqliteDeadJobs(queue);
  const worker = createSqliteWorker(queue, {
    ...{ maxRuns: 1, pollEvery: 5, logger: { warn: () => undefined, error: () => undefined } },
    on: {
      'call:completed': ({ callId }) => {
        if (callId === 'dead') throw new Error('no');
      },
    },
  });
  for (const callId of ['dead', 'done', 'done']) await queue.enqueue(queuedCall(callId));
  await waitFor(async () => (await queue.stats()).done === 1 && (await queue.stats()).dead === 1);
  await worker.close();
  expect((await deadJobs.list()).letters).toMatchObject([{ callId: 'dead', attempt: 1 }]);
  expect(await migrate(db)).toEqual({ from: 1, to: 1 });
}

const REFUSED = 'its rows are not objects with the columns of the statement. Turn off options';

/** What statements of better-sqlite3 and of libsql may be told to return. */
type Configurable = SqliteStatement & Record<'raw' | 'pluck' | 'expand', () => SqliteStatement>;

/** The handle of a user who configures each statement. */
const configured = (
  db: SqliteDatabase,
  configure: (statement: Configurable) => SqliteStatement,
) => ({
  exec: (sql: string) => db.exec(sql),
  prepare: (sql: string) => configure(db.prepare(sql) as Configurable),
});

eachClient(({ name, open }) => {
  describe(`${name}, whatever it is told to return`, () => {
    function withHandle(options: object, work: (db: Handle) => unknown): Promise<void> {
      const { file, remove } = freshFile();
      const db = open(file, options);
      return Promise.resolve(work(db)).then(() => {
        db.close();
        remove();
      });
    }
    const refuses = (db: SqliteDatabase) => {
      for (const create of Object.values(CREATORS))
        expect(() => create(db)).toThrow(invalid(REFUSED));
    };

    it('works as it is', () => withHandle({}, useEverything));

    if (name === 'node:sqlite') {
      it('works with big integers', () => withHandle({ readBigInts: true }, useEverything));
      it('is refused with arrays for rows', () => withHandle({ returnArrays: true }, refuses));
      return;
    }

    it('works with big integers', () =>
      withHandle({}, (db) => {
        (db as unknown as { defaultSafeIntegers(): void }).defaultSafeIntegers();
        return useEverything(db);
      }));

    it('is refused with arrays or values for rows', () =>
      withHandle({}, (db) => {
        refuses(configured(db, (statement) => statement.raw()));
        refuses(configured(db, (statement) => statement.pluck()));
        if (name === 'better-sqlite3') refuses(configured(db, (statement) => statement.expand()));
      }));
  });

  it(`a row that is not understood is an error, and nothing is admitted: ${name}`, async () => {
    const { file, remove } = freshFile();
    const db = open(file);
    let isChanged = false;
    const handle = {
      exec: (sql: string) => db.exec(sql),
      prepare(sql: string) {
        const statement = db.prepare(sql);
        const changed = (row: unknown): unknown => Object.values(row as object);
        return {
          all: (...values: unknown[]) =>
            isChanged && !sql.includes('schema')
              ? statement.all(...values).map(changed)
              : statement.all(...values),
          run: (...values: unknown[]) =>
            isChanged ? (undefined as never) : statement.run(...values),
        };
      },
    };
    const store = sqliteStore(handle);
    const letters = sqliteDeadLetters(handle);
    const queue = sqliteQueue(handle);
    const claim = { webhookId: 'w', key: 'event', token: 'token', leaseMs: 60_000 };
    const replayUntil = Date.now() + 600_000;
    await store.admit({ ...claim, replayUntil });
    await store.saveCursor?.('reconcile', 'page 2');
    await letters.put(deadLetter({ key: 'event' }));
    await queue.enqueue(queuedCall('call-1'));
    db.exec(`UPDATE call_webhooks_jobs SET state = 'dead', error = 'no', failures = '[]'`);

    isChanged = true;
    for (const failing of [
      store.admit({ ...claim, webhookId: 'other', replayUntil }),
      store.admit({ ...claim, key: undefined, webhookId: 'other', replayUntil }),
      store.complete('event', 'token'),
      store.extend('event', 'token', 60_000),
      store.reopen?.('event'),
      store.loadCursor?.('reconcile'),
      letters.list(),
      letters.count(),
      letters.put(deadLetter({ key: 'event' })),
      queue.stats(),
      sqliteDeadJobs(queue).list(),
      queue.enqueue(queuedCall('call-2')),
    ])
      await expect(failing).rejects.toThrow(
        /^The SQLite client did not return the column \w+ as expected/,
      );
    isChanged = false;
    expect(await store.complete('event', 'token')).toBe(true);
    db.close();
    remove();
  });

  it(`errors are told apart by their codes: ${name}`, () => {
    const { file, remove } = freshFile();
    const [one, other] = [open(file), open(file)];
    other.exec('PRAGMA busy_timeout = 1');
    const errorOf = (sql: string): unknown => {
      try {
        return other.exec(sql);
      } catch (error) {
        return new Error('The query failed.', { cause: error }); // as Drizzle wraps it
      }
    };
    one.exec('BEGIN EXCLUSIVE');
    expect(isBusy(errorOf('CREATE TABLE t (a)'))).toBe(true);
    one.exec('ROLLBACK');
    expect(isBusy(errorOf('CREATE TABLE'))).toBe(false);
    expect(isMissingTable(errorOf('SELECT * FROM nowhere'))).toBe(true);
    expect(isMissingTable(errorOf('CREATE TABLE'))).toBe(false);
    other.exec('BEGIN');
    expect(isNestedBegin(errorOf('BEGIN'))).toBe(true);
    other.exec('ROLLBACK');
    for (const handle of [one, other]) handle.close();
    expect(isNestedBegin(errorOf('BEGIN'))).toBe(false);
    remove();
  });
});

describe('an error of SQLite', () => {
  const KINDS = { isBusy, isMissingTable, isNestedBegin, isRefused, isUnwritable };
  const kindsOf = (error: unknown) =>
    Object.entries(KINDS).flatMap(([kind, is]) => (is(error) ? [kind] : []));
  // A failed BEGIN says no more than SQLITE_ERROR on some clients, and nobody asks about another statement.
  it.each<[string, number, string, string[], string[]]>([
    ['SQLITE_BUSY', 5, 'database is locked', ['isBusy'], ['isBusy']],
    ['SQLITE_LOCKED', 6, 'database table is locked: jobs', ['isBusy'], ['isBusy']],
    [
      'SQLITE_ERROR',
      1,
      'no such table: jobs',
      ['isMissingTable', 'isNestedBegin'],
      ['isMissingTable'],
    ],
    [
      'SQLITE_ERROR',
      1,
      'cannot start a transaction within a transaction',
      ['isNestedBegin'],
      ['isNestedBegin'],
    ],
    ['SQLITE_TOOBIG', 18, 'string or blob too big', ['isRefused'], ['isRefused']],
    ['SQLITE_CONSTRAINT', 19, 'NOT NULL constraint failed: t.a', ['isRefused'], ['isRefused']],
    ['SQLITE_MISMATCH', 20, 'datatype mismatch', ['isRefused'], ['isRefused']],
    [
      'SQLITE_READONLY',
      8,
      'attempt to write a readonly database',
      ['isUnwritable'],
      ['isUnwritable'],
    ],
    ['SQLITE_CANTOPEN', 14, 'unable to open database file', ['isUnwritable'], ['isUnwritable']],
    ['SQLITE_IOERR', 10, 'disk I/O error', [], []],
    ['SQLITE_FULL', 13, 'database or disk is full', [], []],
  ])(
    'is told apart, however a client says it: %s, %d, %s',
    (code, errcode, message, byCode, byMessage) => {
      const says = (more: object) => Object.assign(new Error(message), more);
      const forms = [
        ...[{ code }, { code: `${code}_EXTENDED` }],
        ...[{ errcode }, { errcode: errcode + 7 * 256, code: 'ERR_SQLITE_ERROR' }],
      ];
      for (const form of forms) {
        expect([form, kindsOf(says(form))]).toEqual([form, byCode]);
        const wrapped = new Error('The query failed.', { cause: says(form) });
        expect([form, kindsOf(wrapped)]).toEqual([form, byCode]);
      }
      expect(kindsOf(says({}))).toEqual(byMessage);
    },
  );
});

describe('a locked file, on other clients', () => {
  const error = (message: string, more: object = {}) => Object.assign(new Error(message), more);
  it.each([
    ['Deno', error('database is locked')],
    ['Bun', error('database is locked', { code: 'SQLITE_BUSY', errno: 5 })],
    ['better-sqlite3', error('x', { code: 'SQLITE_BUSY_SNAPSHOT' })],
    ['a client with codes of its own', error('database is locked', { code: 'E' })],
    ['node:sqlite', error('x', { code: 'ERR_SQLITE_ERROR', errcode: 261 })],
    ['a shared cache', error('database table is locked: jobs')],
    ['a shared cache, by its code', error('x', { code: 'SQLITE_LOCKED_SHAREDCACHE' })],
    ['a wrapper', error('Failed query', { cause: error('x', { code: 'SQLITE_BUSY' }) })],
    ['a wrapper of Deno', error('Failed query', { cause: error('database is locked') })],
  ])('is known on %s', (_name, one) => {
    expect(isBusy(one)).toBe(true);
  });

  it('is not mistaken for another error', () => {
    expect(isBusy(error('database or disk is full'))).toBe(false);
    const text = 'database is locked'; // a message does not count beside a code
    expect(isBusy(error(text, { errcode: 13 }))).toBe(false);
    expect(isBusy(error(text, { code: 'SQLITE_FULL' }))).toBe(false);
    expect(isBusy(error(text, { cause: error('x', { code: 'SQLITE_FULL' }) }))).toBe(false);
    const circle: Error = error('no');
    circle.cause = circle;
    for (const thrown of [circle, undefined, 'no']) expect(isBusy(thrown)).toBe(false);
  });
});
