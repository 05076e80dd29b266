import { postgresStore } from '@call-webhooks/postgres';
import { Pool } from 'pg';

const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  // A server that is gone must not be waited for.
  connectionTimeoutMillis: 1_000,
  query_timeout: 1_000,
});
// Without a listener, a connection that breaks while idle would end the process.
pool.on('error', (error) => {
  console.warn(`Postgres: ${error.message}`);
});

export const store = postgresStore(pool);
