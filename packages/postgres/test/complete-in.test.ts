import { describe, expect, it } from '@jest/globals';
import { neon } from '@neondatabase/serverless';
import { drizzle as drizzleOnNeon } from 'drizzle-orm/neon-http';
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
    ['Drizzle on neon()', drizzleOnNeon('postgres://user:p@host.test/db'), 'Neon over HTTP'],
    ['a Pool of pg', new pg.Pool(), 'a pool runs each statement on any of its connections'],
    ['sql of postgres.js', postgres(), 'sql of sql.begin'],
  ])('refuses what has no transaction: %s', async (_name, tx, mistake) => {
    const completing = store.completeIn(tx as PostgresTransaction, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal(mistake));
  });
});
