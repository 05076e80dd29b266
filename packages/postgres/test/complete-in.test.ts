import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  completeInContractTests,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { neon } from '@neondatabase/serverless';
import { drizzle as drizzleOnNeon } from 'drizzle-orm/neon-http';
import pg from 'pg';
import postgres from 'postgres';
import { postgresStore, type PostgresClient, type PostgresTransaction } from '../src/index.ts';
import { CLIENTS, ON_PGLITE, type Transactions } from './effects.ts';
import { openPool, openTestStore, withPostgres } from './support.ts';

/** A new store, a table of effects beside it, and transactions on both. */
async function openWithEffects(
  client: PostgresClient,
  openTransactions: (schema: string) => Transactions,
) {
  const opened = await openTestStore(client);
  const { schema } = opened;
  await client.query(`CREATE TABLE ${schema}.effects (number serial PRIMARY KEY, effect text)`);
  const transactions = openTransactions(schema);
  return {
    ...opened,
    ...transactions,
    async committed(effect: string) {
      const count = `SELECT count(*)::int AS count FROM ${schema}.effects WHERE effect = $1`;
      const { rows } = (await client.query(count, [effect])) as { rows: { count: number }[] };
      return rows[0]!.count;
    },
    async close() {
      await transactions.close();
      await opened.close();
    },
  };
}

const refusal = (mistake: string) =>
  expect.objectContaining({
    code: 'invalid-options',
    message: expect.stringContaining(mistake),
  });

for (const [name, open] of Object.entries(ON_PGLITE)) {
  completeInContractTests({
    name,
    async open() {
      const db = await PGlite.create();
      const opened = await openWithEffects(db, (schema) => open(db, schema));
      return {
        ...opened,
        async close() {
          await opened.close();
          await db.close();
        },
      };
    },
  });
}

describe('completeIn', () => {
  const store = postgresStore({ query: () => Promise.reject(new Error('not called')) });
  it.each<[string, unknown, string]>([
    ['neon()', neon('postgres://user:password@host.test/db'), 'Neon over HTTP'],
    ['Drizzle on neon()', drizzleOnNeon('postgres://user:p@host.test/db'), 'Neon over HTTP'],
    ['a Pool of pg', new pg.Pool(), 'a pool runs each statement on any of its connections'],
    ['sql of postgres.js', postgres(), 'sql of sql.begin'],
  ])('refuses what has no transaction: %s', async (_name, tx, mistake) => {
    const completing = store.completeIn(tx as PostgresTransaction, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal(mistake));
  });
});

withPostgres('completeIn on a server', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    const patient = { connectionTimeoutMillis: 20_000, query_timeout: 20_000 };
    pool = openPool(server.url, { max: 20, ...patient });
  }, 30_000);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  for (const [name, open] of Object.entries(CLIENTS)) {
    completeInContractTests({
      name,
      open: () => openWithEffects(pool, (schema) => open(server.url, schema)),
    });

    it(`refuses the client itself, and a transaction that has ended: ${name}`, async () => {
      const opened = await openWithEffects(pool, (schema) => open(server.url, schema));
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await opened.store.admit({ ...claim, key: 'event', token: 'token' });
      let ended: unknown;
      await opened.transact(({ tx }) => Promise.resolve(void (ended = tx)));
      for (const tx of [opened.root, ended])
        await expect(async () =>
          opened.store.completeIn(tx as PostgresTransaction, 'event', 'token'),
        ).rejects.toThrow();
      expect(await opened.store.complete('event', 'token')).toBe(true);
      await opened.close();
    });
  }
});
