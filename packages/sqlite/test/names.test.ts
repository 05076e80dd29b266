import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import { type Claim, storableKey } from '@call-webhooks/core/stores';
import Database from 'libsql';
import { type SqliteDatabase, sqliteStore, type SqliteStore } from '../src/index.ts';
import { hashOf, slotsOf } from '../src/name-index.ts';
import { freshFile } from './support.ts';

describe('names in the tables', () => {
  const REMEMBER_FOR = 600_000;

  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let now: number;
  let store: ReturnType<typeof sqliteStore>;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
    now = 1_800_000_000_000;
    store = sqliteStore(db, { now: () => now, rememberFor: REMEMBER_FOR });
  });
  afterEach(() => {
    db.close();
    place.remove();
  });

  const claim = (own: Partial<Claim> = {}): Claim => ({
    ...{ webhookId: unique('webhook'), token: unique('token'), key: 'event', group: undefined },
    ...{ replayUntil: now + 60_000, leaseMs: 60_000 },
    ...own,
  });
  const admitted = { status: 'admitted', attempt: 1 };
  const rows = (table: string) =>
    db.prepare(`SELECT count(*) AS count FROM call_webhooks_${table}`).all() as { count: number }[];

  /** What has the hash of another name, and is handled. */
  async function addOthers({ webhookId, key = '' }: Claim): Promise<void> {
    await store.ping?.(); // creates the tables
    const name = (table: string, hash: number, row: number | bigint) =>
      db
        .prepare(`INSERT INTO call_webhooks_${table}_names (slot, row) VALUES (?, ?)`)
        .run(slotsOf(hash)[0], row);
    const id = db
      .prepare('INSERT INTO call_webhooks_ids (id, token, keep_until) VALUES (?, ?, ?)')
      .run('other id', 'other token', now + 60_000);
    name('id', hashOf(webhookId), id.lastInsertRowid);
    const event = db
      .prepare(
        'INSERT INTO call_webhooks_events (key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, 1, 1, 0, ?)',
      )
      .run('other event', 'other token', now + REMEMBER_FOR);
    name('event', hashOf(key), event.lastInsertRowid);
  }

  it('tells names with the same hash apart', async () => {
    const own = claim();
    await addOthers(own);
    expect(await store.admit(own)).toEqual(admitted);
    expect(await store.complete('event', own.token)).toBe(true);
    expect(await store.admit(claim())).toEqual({ status: 'duplicate' });
    expect(await store.admit(claim({ webhookId: own.webhookId }))).toEqual({ status: 'replayed' });
  });

  it('completes in a transaction only the event with this very key', async () => {
    const own = claim();
    await addOthers(own);
    db.exec(`UPDATE call_webhooks_events SET token = '${own.token}', done = 0, lease_until = 9e15`);
    db.exec('BEGIN');
    expect(store.completeIn(db, 'event', own.token)).toBe(false);
    db.exec('COMMIT');
  });

  it('admits an event again that it has forgotten but not removed yet', async () => {
    const first = claim({ group: 'call' });
    await store.admit(first);
    await store.complete('event', first.token);
    now += REMEMBER_FOR + 59_999; // the lease is added
    expect(await store.admit(claim())).toEqual({ status: 'duplicate' });
    now += 1;
    const again = claim({ webhookId: first.webhookId, group: 'call' });
    expect(await store.admit(again)).toEqual(admitted);
    expect(rows('events')).toEqual([{ count: 2 }]); // the old one goes with the next sweep
    expect(await store.admit(claim())).toEqual({ status: 'in-progress' });
    expect(await store.admit(claim({ key: 'next', group: 'call' }))).toEqual({
      status: 'group-busy',
    });
    expect(await store.complete('event', again.token)).toBe(true);
    expect(await store.admit(claim({ key: 'next', group: 'call' }))).toEqual(admitted);
  });

  it('keeps one row for an event, whatever number of attempts it takes', async () => {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const one = claim();
      expect(await store.admit(one)).toEqual({ status: 'admitted', attempt });
      expect(await store.release('event', one.token)).toBe(true);
    }
    expect(rows('events')).toEqual([{ count: 1 }]);
    expect(rows('ids')).toEqual([{ count: 3 }]);
  });

  it('keeps one row for a webhook id whose claim is repeated', async () => {
    const own = claim();
    await store.admit(own);
    expect(await store.admit(own)).toEqual(admitted);
    expect(rows('ids')).toEqual([{ count: 1 }]);
  });

  it('takes integers as bigint, and null for no row, as clients may give them', async () => {
    db.close();
    db = new Database(':memory:'); // thousands of commits, which need no disk
    const statementsOf = (sql: string) => {
      const statement = db.prepare(sql).safeIntegers(true);
      return {
        all: (...values: unknown[]) => statement.all(...values),
        get: (...values: unknown[]) => statement.get(...values) ?? null,
        run: (...values: unknown[]) => {
          const { changes, lastInsertRowid } = statement.run(...values);
          return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
        },
      };
    };
    const handle = { exec: (sql: string) => db.exec(sql), prepare: statementsOf };
    const other = sqliteStore(handle, { now: () => now, rememberFor: REMEMBER_FOR });
    const one = claim({ group: 'call' });
    expect(await other.admit(one)).toEqual(admitted);
    expect(await other.admit(claim({ key: 'next', group: 'call' }))).toEqual({
      status: 'group-busy',
    });
    expect(await other.extend('event', one.token, 60_000)).toBe(true);
    expect(await other.complete('event', one.token)).toBe(true);
    expect(await other.complete('event', one.token)).toBe(false);
    expect(await other.complete('unknown', one.token)).toBe(false);
    for (let number = 1; number <= 2_000; number++)
      // enough names to move some
      expect(await other.admit(claim({ key: `event ${String(number)}` }))).toEqual(admitted);
    expect(await other.admit(claim({ key: 'event 1' }))).toEqual({ status: 'in-progress' });
    expect(rows('event_names WHERE slot >= -1073741824')[0]?.count).toBeGreaterThan(0);
  });

  it('finds what it stored after VACUUM', async () => {
    const claims = Array.from({ length: 3 }, (_, number) =>
      claim({ key: `event ${String(number)}` }),
    );
    for (const one of claims) await store.admit(one);
    db.exec('DELETE FROM call_webhooks_ids WHERE rowid = 1');
    db.exec('DELETE FROM call_webhooks_events WHERE rowid = 1');
    db.exec('DROP INDEX call_webhooks_ids_keep_until');
    db.exec('DROP INDEX call_webhooks_events_keep_until'); // SQLite keeps rowids beside an index
    db.exec('VACUUM');
    for (const { key, webhookId } of claims.slice(1)) {
      expect(await store.admit(claim({ key, webhookId }))).toEqual({ status: 'replayed' });
      expect(await store.admit(claim({ key }))).toEqual({ status: 'in-progress' });
    }
  });

  it('completes and reopens an event whose name has moved', async () => {
    const [done, dead] = [claim({ key: 'done' }), claim({ key: 'dead' })];
    for (const one of [done, dead]) await store.admit(one);
    db.exec('UPDATE call_webhooks_event_names SET slot = slot + 1073741824 * 3');
    expect(await store.complete('done', done.token)).toBe(true);
    expect(await store.complete('dead', dead.token, 'dead-lettered')).toBe(true);
    expect(await store.reopen?.('dead')).toBe(true);
    expect(await store.admit(claim({ key: 'dead' }))).toEqual(admitted);
    expect(await store.admit(claim({ key: 'done' }))).toEqual({ status: 'duplicate' });
  });

  it('takes no other event for the last of a group', async () => {
    await store.admit(claim({ group: 'call' }));
    db.exec(`UPDATE call_webhooks_events SET key = 'other'`); // the number of a row was used again
    expect(await store.admit(claim({ key: 'next', group: 'call' }))).toEqual(admitted);
  });

  it('stores a name that is too long as core does', async () => {
    const long = 'é'.repeat(1_000);
    await store.admit(claim({ key: long }));
    const [row] = db.prepare('SELECT key FROM call_webhooks_events').all();
    expect(row).toMatchObject({ key: await storableKey(long) });
  });

  it('keeps a cursor, replaces and removes it', async () => {
    expect(await store.loadCursor?.('catch-up')).toBeUndefined();
    for (const cursor of ['first', 'second']) {
      await store.saveCursor?.('catch-up', cursor);
      expect(await store.loadCursor?.('catch-up')).toBe(cursor);
    }
    await store.saveCursor?.('catch-up', undefined);
    expect(await store.loadCursor?.('catch-up')).toBeUndefined();
  });
});

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
