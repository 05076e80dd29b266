import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll } from '@jest/globals';
import {
  deadLettersContractTests,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import type pg from 'pg';
import { postgresDeadLetters, type PostgresClient } from '../src/index.ts';
import { freshSchema, openPool, withPostgres } from './support.ts';

async function openTestDeadLetters(client: PostgresClient) {
  const schema = freshSchema();
  const deadLetters = postgresDeadLetters(client, { schema });
  await deadLetters.migrate();
  return {
    deadLetters,
    async advance(ms: number) {
      const back = `claimed_until - ${String(ms)} * interval '1 millisecond'`;
      await client.query(`UPDATE ${schema}.dead_letters SET claimed_until = ${back}`);
    },
  };
}

deadLettersContractTests({
  name: 'postgresDeadLetters on PGlite',
  async open() {
    const db = await PGlite.create();
    return { ...(await openTestDeadLetters(db)), close: () => db.close() };
  },
});

withPostgres('postgresDeadLetters', () => {
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

  deadLettersContractTests({ name: 'a Pool of pg', open: () => openTestDeadLetters(pool) });
  deadLettersContractTests({
    name: "rows as Neon's HTTP driver gives them",
    open: () =>
      openTestDeadLetters({
        query: async (text, values) => (await pool.query(text, values)).rows as unknown[],
      }),
  });
});
