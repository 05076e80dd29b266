import { expect, it } from '@jest/globals';
import Database from 'libsql';
import { sqliteStore, type SqliteTransaction } from '../src/index.ts';
import { completeInTests, openWithEffects } from './complete-in.ts';
import { onHandle, onLibsqlClient } from './effects.ts';
import { eachClient, freshFile, type Client } from './support.ts';

eachClient((client) => {
  completeInTests(client.name, client, (file) => onHandle(client, file));
  if (client.name === 'libsql') {
    completeInTests('@libsql/client', client, onLibsqlClient);
    return;
  }

  it(`refuses ${client.name} beside a store on libsql: their locks would not hold`, async () => {
    const libsql: Client = { name: 'libsql', open: (file) => new Database(file) };
    const opened = openWithEffects(libsql, (file) => onHandle(client, file));
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await opened.store.admit({ ...claim, key: 'event', token: 'token' });
    const transaction = opened.transact(async ({ tx }) => {
      await opened.store.completeIn(tx as SqliteTransaction, 'event', 'token');
    });
    await expect(transaction).rejects.toThrow('a copy of SQLite each');
    await opened.close();
  });
});

it('the binding of Cloudflare D1 is refused with the reason', async () => {
  // What a Worker gets. It is refused before any of this is called.
  const unused = () => Promise.reject(new Error('not to be called'));
  const binding = { prepare: unused, batch: unused, exec: unused, dump: unused };
  const { file, remove } = freshFile();
  const db = new Database(file);
  const store = sqliteStore(db);
  const completing = async () =>
    store.completeIn(binding as unknown as SqliteTransaction, 'event', 'token');
  await expect(completing()).rejects.toMatchObject({
    code: 'invalid-options',
    message: expect.stringContaining('Cloudflare D1 has no transactions that wait for your code'),
  });
  db.close();
  remove();
});
