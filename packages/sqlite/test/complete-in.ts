import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import { completeInContractTests, type Effects } from '@call-webhooks/store-tests';
import { createClient } from '@libsql/client';
import { sqliteStore, type SqliteDatabase, type SqliteTransaction } from '../src/index.ts';
import { freshFile, type Client } from './support.ts';

/** Transactions of a user on a file, with clients of their own. */
export interface Transactions extends Pick<Effects, 'transact' | 'client'> {
  /** What is said to `client`, which is no transaction. */
  mistake: string;
  close(): unknown;
}

const INSERT = 'INSERT INTO effects (effect) VALUES (?)';

/** BEGIN and COMMIT on a handle of its own. */
export function onHandle(client: Client, file: string): Transactions {
  const root = client.open(file);
  return {
    client: root,
    mistake: 'this handle is not in a transaction. Run BEGIN on it first',
    async transact(work) {
      const handle = client.open(file);
      handle.exec('PRAGMA busy_timeout = 20');
      try {
        handle.exec('BEGIN IMMEDIATE');
        try {
          const write = (effect: string) => Promise.resolve(handle.prepare(INSERT).run(effect));
          await work({ tx: handle, write });
          handle.exec('COMMIT');
        } catch (error) {
          handle.exec('ROLLBACK');
          throw error;
        }
      } finally {
        handle.close();
      }
    },
    close: () => root.close(),
  };
}

/** The same transactions, as another client gives them. @param like that client, with or without a transaction */
function as(
  { client: root, transact, close }: Transactions,
  mistake: string,
  like: (handle: SqliteDatabase, isTransaction: boolean) => object,
): Transactions {
  return {
    client: like(root as SqliteDatabase, false),
    mistake,
    transact: (work) =>
      transact(async ({ tx, write }) => work({ tx: like(tx as SqliteDatabase, true), write })),
    close,
  };
}

/** As Kysely gives them. */
export const onKysely = (client: Client, file: string): Transactions =>
  as(onHandle(client, file), 'Pass the trx of db.transaction()', (handle, isTransaction) => ({
    isTransaction,
    executeQuery: async ({ sql }: { sql: string }) => ({ rows: handle.prepare(sql).all() }),
  }));

/** What Drizzle makes of a synchronous handle. */
export function drizzleOn(handle: SqliteDatabase, isTransaction: boolean): object {
  class Made {
    resultKind = 'sync';
    run = (sql: string) => handle.exec(sql);
    values = (sql: string): unknown[] =>
      handle
        .prepare(sql)
        .all()
        .map((row) => Object.values(row as object) as unknown[]);
  }
  Object.assign(Made, { [Symbol.for('drizzle:entityKind')]: 'SQLiteTransaction' });
  return Object.assign(new Made(), isTransaction && { rollback: () => undefined });
}

/** As Drizzle gives them on a synchronous client. */
export const onDrizzle = (client: Client, file: string): Transactions =>
  as(onHandle(client, file), 'Pass the tx of db.transaction(', drizzleOn);

/** The asynchronous client of libsql. */
export function onLibsqlClient(file: string): Transactions {
  const root = createClient({ url: `file:${file}` });
  return {
    client: root,
    mistake: "Pass the transaction of client.transaction('write')",
    async transact(work) {
      const tx = await root.transaction('write');
      try {
        await work({ tx, write: (effect) => tx.execute({ sql: INSERT, args: [effect] }) });
        await tx.commit();
      } finally {
        tx.close();
      }
    },
    close() {
      root.close();
    },
  };
}

/** A new store, a table of effects beside it, and transactions on both. */
export function openWithEffects(client: Client, openTransactions: (file: string) => Transactions) {
  const { file, remove } = freshFile();
  const db = client.open(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('CREATE TABLE effects (number INTEGER PRIMARY KEY, effect TEXT)');
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const transactions = openTransactions(file);
  return {
    store: sqliteStore(db, { now }),
    ...transactions,
    now,
    advance: (ms: number) => void (ahead += ms),
    committed(effect: string) {
      const count = db.prepare('SELECT count(*) AS count FROM effects WHERE effect = ?');
      const [row] = count.all(effect) as { count: number }[];
      return Promise.resolve(row!.count);
    },
    async close() {
      await transactions.close();
      db.close();
      remove();
    },
  };
}

/** What a client shows whose transactions `completeIn` takes. */
export function completeInTests(
  name: string,
  client: Client,
  openTransactions: (file: string) => Transactions,
): void {
  completeInContractTests(runner, {
    name,
    open: () => Promise.resolve(openWithEffects(client, openTransactions)),
  });

  it(`says what to pass instead of the client itself: ${name}`, async () => {
    const opened = openWithEffects(client, openTransactions);
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await opened.store.admit({ ...claim, key: 'event', token: 'token' });
    const complete = async () =>
      opened.store.completeIn(opened.client as SqliteTransaction, 'event', 'token');
    await expect(complete()).rejects.toThrow(opened.mistake);
    await opened.close();
  });

  it(`refuses a transaction on another database, with the same tables or without: ${name}`, async () => {
    const opened = openWithEffects(client, openTransactions);
    const { file, remove } = freshFile();
    const db = client.open(file);
    for (const prefix of ['call_webhooks_', 'elsewhere_']) {
      const elsewhere = sqliteStore(db, { prefix });
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      for (const store of [elsewhere, opened.store])
        await store.admit({ ...claim, webhookId: prefix, key: prefix, token: 'token' });
      const transaction = opened.transact(async ({ tx }) => {
        await elsewhere.completeIn(tx as SqliteTransaction, prefix, 'token');
      });
      await expect(transaction).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringMatching(/does not contain .*exactly-once\.html#your-own-database$/),
      });
      expect(await opened.store.complete(prefix, 'token')).toBe(true);
    }
    db.close();
    remove();
    await opened.close();
  });
}
