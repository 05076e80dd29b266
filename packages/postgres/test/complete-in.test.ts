import { describe, expect, it } from '@jest/globals';
import { neon } from '@neondatabase/serverless';
import pg from 'pg';
import postgres from 'postgres';
import { postgresStore, type PostgresTransaction } from '../src/index.ts';

const refusal = (mistake: string) =>
  expect.objectContaining({
    code: 'invalid-options',
    message: expect.stringContaining(mistake),
  });

describe('completeIn', () => {
  const store = postgresStore({ query: () => Promise.reject(new Error('not called')) });
  it.each<[string, unknown, string]>([
    ['neon()', neon('postgres://user:password@host.test/db'), 'Neon over HTTP'],
    ['a Pool of pg', new pg.Pool(), 'a pool runs each statement on any of its connections'],
    ['sql of postgres.js', postgres(), 'sql of sql.begin'],
  ])('refuses what has no transaction: %s', async (_name, tx, mistake) => {
    const completing = store.completeIn(tx as PostgresTransaction, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal(mistake));
  });

  it('refuses the pool of the store as any other pool', async () => {
    const pool = new pg.Pool();
    const completing = postgresStore(pool).completeIn(pool, 'key', 'token');
    await expect(completing).rejects.toEqual(
      refusal('Pass the client of pool.connect() that ran BEGIN'),
    );
  });

  it('refuses the only connection of the store', async () => {
    const client = { query: () => Promise.reject(new Error('not called')) };
    const completing = postgresStore(client).completeIn(client, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal('the connection of the store itself'));
  });

  it.each([
    ['pg', Object.assign(new Error('relation missing'), { code: '42P01' })],
    [
      'Drizzle',
      new Error('Failed query', { cause: Object.assign(new Error(), { code: '42P01' }) }),
    ],
    ['Prisma', new Error('Raw query failed. Code: `42P01`. Message: `relation missing`')],
  ])('says that a transaction is on another database: %s', async (_client, cause) => {
    const completing = store.completeIn({ query: () => Promise.reject(cause) }, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal('another database than that of the store'));
    await expect(completing).rejects.toMatchObject({ cause });
  });

  it('links to the page about transactions', async () => {
    const completing = store.completeIn(new pg.Pool(), 'key', 'token');
    await expect(completing).rejects.toThrow(/exactly-once\.html#your-own-database$/);
  });
});
