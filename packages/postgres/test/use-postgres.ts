import { afterAll, beforeAll } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@call-webhooks/contract-tests';
import type pg from 'pg';
import { openPool } from './support.ts';

/** A server of a suite's own, and a pool without limits that a busy machine could reach. */
export interface PostgresUnderTest {
  server: PostgresServer;
  pool: pg.Pool;
}

/** Call it in a `describe`. What it returns is filled in before its tests. */
export function usePostgres(): PostgresUnderTest {
  const test = {} as PostgresUnderTest;
  beforeAll(async () => {
    test.server = await startPostgres();
    const patient = { connectionTimeoutMillis: 20_000, query_timeout: 20_000 };
    test.pool = openPool(test.server.url, { max: 20, ...patient });
  });
  afterAll(async () => {
    await test.pool.end();
    await test.server.remove();
  });
  return test;
}
