import { postgresStore } from '@call-webhooks/postgres';
import { Pool } from 'pg';

const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  // Don't wait for a server that is down.
  connectionTimeoutMillis: 1_000,
  query_timeout: 1_000,
});
// Without a listener, an idle connection that breaks would crash the process.
pool.on('error', (error) => {
  console.warn(`Postgres: ${error.message}`);
});

export const store = postgresStore(pool);
