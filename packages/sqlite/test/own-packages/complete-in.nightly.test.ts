import { createClient } from '@libsql/client';
import { expect, it } from '@jest/globals';
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session';
import { drizzle as drizzleOnD1 } from 'drizzle-orm/d1';
import { drizzle as drizzleOnLibsqlClient } from 'drizzle-orm/libsql';
import { BaseSQLiteDatabase, SQLiteSyncDialect, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { sqliteStore, type SqliteTransaction } from '../../src/index.ts';
import { completeInTests, type Transactions } from '../complete-in.ts';
import { eachClient, freshFile, type Client } from '../support.ts';

const effects = sqliteTable('effects', { effect: text().notNull() });

/** Kysely, over better-sqlite3 or a handle like it. */
function onKysely(client: Client, file: string): Transactions {
  const database = client.open(file) as never;
  const root = new Kysely<{ effects: { effect: string } }>({
    dialect: new SqliteDialect({ database }),
  });
  return {
    client: root,
    mistake: 'Pass the trx of db.transaction().execute(async (trx) => …)',
    transact: (work) =>
      root.transaction().execute((trx) =>
        work({
          tx: trx,
          write: (effect) => trx.insertInto('effects').values({ effect }).execute(),
        }),
      ),
    close: () => root.destroy(),
  };
}

/** On the copy of libsql that the store uses as well: two copies undo the locks of each other. */
function onDrizzleOnLibsqlClient(file: string): Transactions {
  const client = createClient({ url: `file:${file}` });
  const root = drizzleOnLibsqlClient(client);
  return {
    client: root,
    mistake: 'Pass the tx of db.transaction((tx) => …)',
    transact: (work) =>
      root.transaction((tx) =>
        work({ tx, write: async (effect) => tx.insert(effects).values({ effect }) }),
      ),
    close() {
      client.close();
    },
  };
}

eachClient((client) => {
  if (client.name === 'node:sqlite') return; // Kysely and Drizzle have no dialect for it
  completeInTests(`Kysely on ${client.name}`, client, (file) => onKysely(client, file));
  if (client.name === 'libsql')
    completeInTests('Drizzle on @libsql/client', client, onDrizzleOnLibsqlClient);

  // Drizzle's client for better-sqlite3 takes a libsql handle as well: it has the same methods.
  it(`completeIn works in synchronous transactions of Drizzle, and not after them: ${client.name}`, async () => {
    const { file, remove } = freshFile();
    const db = client.open(file);
    db.exec('CREATE TABLE effects (effect TEXT)');
    const store = sqliteStore(db);
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await store.admit({ ...claim, key: 'event', token: 'token' });
    const dialect = new SQLiteSyncDialect();
    const session = new BetterSQLiteSession<Record<string, never>, {}>(
      db as never,
      dialect,
      undefined,
      {},
    );
    const orm = new BaseSQLiteDatabase<'sync', unknown>('sync', dialect, session, undefined);
    const complete = (tx: unknown) => store.completeIn(tx as SqliteTransaction, 'event', 'token');
    let ended: unknown;
    const save = (fails: boolean) => () => {
      orm.transaction((tx) => {
        tx.insert(effects).values({ effect: 'drizzle' }).run();
        expect(complete(tx)).toBe(true);
        ended = tx;
        if (fails) throw new Error('a constraint was violated');
      });
    };
    const written = () => db.prepare('SELECT effect FROM effects').all();
    expect(save(true)).toThrow('a constraint was violated');
    expect(written()).toEqual([]);
    save(false)();
    expect(written()).toMatchObject([{ effect: 'drizzle' }]);
    for (const tx of [orm, ended])
      expect(() => complete(tx)).toThrow(
        'this is no transaction. Pass the tx of db.transaction((tx) => …)',
      );
    db.close();
    remove();
  });

  it(`asks Kysely as CompiledQuery.raw does: ${client.name}`, async () => {
    const { file, remove } = freshFile();
    const db = client.open(file);
    const queries: CompiledQuery[] = [];
    const executeQuery = (query: CompiledQuery) => {
      queries.push(query);
      return Promise.resolve({ rows: [{ 1: 1 }] });
    };
    const tx = { isTransaction: true, executeQuery } as unknown as SqliteTransaction;
    const store = sqliteStore(db);
    await store.ping?.(); // creates the tables
    expect(await store.completeIn(tx, 'event', 'token')).toBe(true);
    const raw = CompiledQuery.raw(queries[0]!.sql);
    expect(queries).toEqual([{ ...raw, queryId: { queryId: 'call-webhooks' } }]);
    db.close();
    remove();
  });

  it(`refuses Drizzle on Cloudflare D1: ${client.name}`, async () => {
    const { file, remove } = freshFile();
    const db = client.open(file);
    const tx = drizzleOnD1({} as never) as unknown as SqliteTransaction;
    const completing = async () => sqliteStore(db).completeIn(tx, 'event', 'token');
    await expect(completing()).rejects.toThrow(
      'Cloudflare D1 does not support transactions that wait for your code',
    );
    db.close();
    remove();
  });
});
