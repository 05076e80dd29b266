import { expect, it } from '@jest/globals';
import { completeInContractTests } from '@call-webhooks/contract-tests';
import { sqliteStore, type SqliteTransaction } from '../src/index.ts';
import type { Transactions } from './effects.ts';
import { freshFile, type Client } from './support.ts';

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
