import { afterAll, beforeAll } from '@jest/globals';
import { startMysql } from '@call-webhooks/contract-tests';
import type { Pool } from 'mysql2/promise';
import { GIVEN_URL, openedStores, openPool } from './support.ts';

/** A server, and a pool of its administrator without limits that a busy machine could reach. */
export interface MysqlUnderTest {
  url: string;
  pool: Pool;
}

/** Call it in a `describe`. What it returns is filled in before its tests. */
export function useMysql(): MysqlUnderTest {
  const test = {} as MysqlUnderTest;
  let remove = () => Promise.resolve();
  beforeAll(async () => {
    if (GIVEN_URL === undefined) {
      const server = await startMysql();
      test.url = server.url;
      remove = () => server.remove();
    } else test.url = GIVEN_URL;
    test.pool = openPool(test.url, { connectionLimit: 20, connectTimeout: 20_000 });
  }, 30_000);
  afterAll(async () => {
    for (const store of openedStores.splice(0)) await store.close(); // waits for sweeps
    await test.pool.end();
    await remove();
  });
  return test;
}
