import pg from 'pg';
import type { Effect, EffectTable } from '../effects.ts';
import { retryUntilSuccess } from './engine.ts';

/** Transactions of a client of its own, as users have one. */
export async function postgresEffects(url: string): Promise<EffectTable> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 40,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_500,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  await retryUntilSuccess(() =>
    pool.query(
      'CREATE TABLE IF NOT EXISTS effects (key text, attempt integer, pid integer, at float8)',
    ),
  );
  return {
    async transact({ key, attempt, pid, at }, before) {
      const client = await pool.connect();
      let failed = true;
      try {
        await client.query('BEGIN');
        if (key !== '')
          await client.query('INSERT INTO effects VALUES ($1, $2, $3, $4)', [
            key,
            attempt,
            pid,
            at,
          ]);
        await before(client);
        await client.query('COMMIT');
        failed = false;
      } finally {
        client.release(failed); // without its connection, a transaction is rolled back
      }
    },
    read: async () => (await pool.query<Effect>('SELECT key, attempt, pid, at FROM effects')).rows,
  };
}
