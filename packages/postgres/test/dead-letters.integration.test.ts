import { afterAll, beforeAll } from '@jest/globals';
import {
  deadLettersContractTests,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import type pg from 'pg';
import { openPool, openTestDeadLetters, withPostgres } from './support.ts';

withPostgres('postgresDeadLetters', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    const patient = { connectionTimeoutMillis: 20_000, query_timeout: 20_000 };
    pool = openPool(server.url, { max: 20, ...patient });
  });
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
