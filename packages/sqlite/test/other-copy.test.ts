import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { sqliteStore, type SqliteDatabase, type SqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

/** A handle in a transaction, whose statements are changed, or whose replies are. */
type Handle = SqliteDatabase & { statements: string[] };

describe('completeIn', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let store: SqliteStore;
  beforeEach(async () => {
    place = freshFile();
    db = new Database(place.file);
    store = sqliteStore(db);
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await store.admit({ ...claim, key: 'event', token: 'token' });
    db.exec('BEGIN IMMEDIATE');
  });
  afterEach(() => {
    db.close();
    place.remove();
  });

  function handle(
    change: (text: string) => string,
    reply = (rows: unknown[]): unknown => rows,
  ): Handle {
    const statements: string[] = [];
    return {
      statements,
      exec: (text) => db.exec(text),
      prepare: (text) => {
        statements.push(text);
        const statement = db.prepare(change(text));
        return {
          all: () => reply(statement.all()) as unknown[],
          get: () => statement.get(),
          run: () => statement.run(),
        };
      },
    };
  }
  const same = (text: string) => text;
  function thrownBy(call: () => unknown): unknown {
    try {
      return call();
    } catch (error) {
      return error;
    }
  }
  const complete = (tx: unknown) => () => store.completeIn(tx as Handle, 'event', 'token');

  it('refuses a client with another copy of SQLite each time, and completes nothing', () => {
    const other = handle((text) => text.replaceAll('sqlite_source_id()', "'of another copy'"));
    for (let time = 1; time <= 3; time++)
      expect(complete(other)).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining(
            'a copy of SQLite each, which undo the locks of each other',
          ),
        }),
      );
    const [event] = db.prepare('SELECT done FROM call_webhooks_events').all();
    expect(event).toMatchObject({ done: 0 });
  });

  it('tells copies apart by how they were built as well', () => {
    const other = handle((text) => text.replaceAll('pragma_compile_options', '(SELECT 1)'));
    expect(complete(other)).toThrow();
  });

  it('asks a client once which copy it has', () => {
    const client = handle(same);
    for (let time = 1; time <= 3; time++) expect(complete(client)()).toBe(true);
    const asked = client.statements.map((text) => text.includes('sqlite_source_id'));
    expect(asked).toEqual([true, false, false]);
  });

  it('passes other errors of the client on as they are', () => {
    const causes = [new Error('disk I/O error'), new Error('failed', { cause: new Error('why') })];
    const cyclic: Error = new Error('failed');
    cyclic.cause = cyclic;
    for (const error of [...causes, cyclic]) {
      const broken = handle(same, () => {
        throw error;
      });
      expect(thrownBy(complete(broken))).toBe(error);
    }
  });

  it('passes on what a handle fails with when it is asked for its transaction', () => {
    const client = handle(same);
    const failing = {
      ...client,
      exec() {
        throw new Error('disk I/O error');
      },
    };
    expect(complete(failing)).toThrow('disk I/O error');
    expect(client.statements).toEqual([]);
  });

  it('leaves a handle that is in no transaction as it was', () => {
    db.exec('ROLLBACK');
    for (let time = 1; time <= 2; time++)
      expect(complete(db)).toThrow('this handle is in no transaction. Run BEGIN on it first');
    db.exec('BEGIN');
  });

  it.each([undefined, null, {}, 'rows', { rows: 1 }])(
    'refuses a client that replies with %p in place of rows',
    (reply) => {
      expect(complete(handle(same, () => reply))).toThrow(
        'completeIn: the client of the transaction gave no rows.',
      );
    },
  );

  it('says what it wants in place of a transaction', () => {
    const error = thrownBy(complete({ query: 'SELECT 1' }));
    expect(error).toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('completeIn: expected a transaction of a SQLite client.'),
    });
    expect(Object.hasOwn(error as Error, 'cause')).toBe(false);
  });
});
