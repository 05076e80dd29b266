import { describe, expect, it } from '@jest/globals';
import { completeInContractTests } from '@call-webhooks/contract-tests';
import { sqliteStore, type SqliteTransaction } from '../src/index.ts';
import { drizzle as drizzleOnD1 } from 'drizzle-orm/d1';
import Database from 'libsql';
import {
  onDrizzleOnLibsqlClient,
  onHandle,
  onKysely,
  onLibsqlClient,
  type Transactions,
} from './effects.ts';
import { eachClient, freshFile, type Client } from './support.ts';

/** A new store, a table of effects beside it, and transactions on both. */
function openWithEffects(client: Client, openTransactions: (file: string) => Transactions) {
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

function testsOf(
  name: string,
  client: Client,
  openTransactions: (file: string) => Transactions,
): void {
  completeInContractTests({
    name,
    open: () => Promise.resolve(openWithEffects(client, openTransactions)),
  });

  it(`refuses the client itself, and a transaction that has ended: ${name}`, async () => {
    const opened = openWithEffects(client, openTransactions);
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await opened.store.admit({ ...claim, key: 'event', token: 'token' });
    let ended: unknown;
    await opened.transact(({ tx }) => Promise.resolve(void (ended = tx)));
    const complete = async (tx: unknown) =>
      opened.store.completeIn(tx as SqliteTransaction, 'event', 'token');
    await expect(complete(opened.root)).rejects.toThrow(opened.mistake);
    await expect(complete(ended)).rejects.toThrow();
    expect(await opened.store.complete('event', 'token')).toBe(true);
    await opened.close();
  });

  it(`refuses a transaction on another database: ${name}`, async () => {
    const opened = openWithEffects(client, openTransactions);
    const { file, remove } = freshFile();
    const db = client.open(file);
    const elsewhere = sqliteStore(db, { prefix: 'elsewhere_' });
    const transaction = opened.transact(async ({ tx }) => {
      await elsewhere.completeIn(tx as SqliteTransaction, 'event', 'token');
    });
    await expect(transaction).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringMatching(/another database .*exactly-once\.html#your-own-database$/),
      cause: expect.objectContaining({ message: expect.any(String) }),
    });
    db.close();
    remove();
    await opened.close();
  });
}

eachClient((client) => {
  testsOf(client.name, client, (file) => onHandle(client, file));
  // Kysely has no dialect for node:sqlite.
  if (client.name !== 'node:sqlite')
    testsOf(`Kysely on ${client.name}`, client, (file) => onKysely(client, file));
  if (client.name === 'libsql') {
    testsOf('@libsql/client', client, onLibsqlClient);
    testsOf('Drizzle on @libsql/client', client, onDrizzleOnLibsqlClient);
    return;
  }

  it(`refuses ${client.name} beside a store on libsql: their locks would not hold`, async () => {
    const libsql: Client = { name: 'libsql', open: (file) => new Database(file) };
    for (const open of [onHandle, onKysely]) {
      if (open === onKysely && client.name === 'node:sqlite') continue;
      const opened = openWithEffects(libsql, (file) => open(client, file));
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await opened.store.admit({ ...claim, key: 'event', token: 'token' });
      const transaction = opened.transact(async ({ tx }) => {
        await opened.store.completeIn(tx as SqliteTransaction, 'event', 'token');
      });
      await expect(transaction).rejects.toThrow('a copy of SQLite each');
      await opened.close();
    }
  });
});

describe('Cloudflare D1', () => {
  // What a Worker gets as its binding. It is refused before any of this is called.
  const unused = () => Promise.reject(new Error('not to be called'));
  const binding = { prepare: unused, batch: unused, exec: unused, dump: unused };

  it.each<[string, unknown]>([
    ['the binding', binding],
    ['Drizzle', drizzleOnD1(binding as never)],
  ])('%s is refused with the reason', async (_name, tx) => {
    const { file, remove } = freshFile();
    const db = new Database(file);
    const store = sqliteStore(db);
    const completing = async () => store.completeIn(tx as SqliteTransaction, 'event', 'token');
    await expect(completing()).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('Cloudflare D1 has no transactions that wait for your code'),
    });
    db.close();
    remove();
  });
});
