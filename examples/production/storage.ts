import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { Pool } from 'pg';

const DAYS = 24 * 60 * 60 * 1000;

/** One Postgres database for the store, the dead letters and the tables of this app. */
export type Storage = Awaited<ReturnType<typeof openStorage>>;

export async function openStorage(connectionString: string) {
  const pool = new Pool({
    connectionString,
    max: 20,
    // Don't wait for a server that is down: the service sends the event again.
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  // Without these listeners, a lost connection would end the process.
  pool.on('error', (error) => console.warn(`Postgres: ${error.message}`));
  pool.on('connect', (client) => client.on('error', () => undefined));

  const store = postgresStore(pool);
  await store.migrate();
  await pool.query(`CREATE TABLE IF NOT EXISTS calls (
    id text PRIMARY KEY, started boolean NOT NULL DEFAULT false, ended_at timestamptz, recording_url text)`);

  return {
    pool,
    store,
    // Dead letters hold personal data, so they are removed after 30 days.
    deadLetters: postgresDeadLetters(pool, { keepFor: 30 * DAYS }),
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}
