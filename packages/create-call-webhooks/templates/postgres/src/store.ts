import { postgresStore } from '@call-webhooks/postgres';
import { Pool } from 'pg';
//: if node
import { config } from './config.ts';
//: end

export const pool = new Pool({
  //: if node
  connectionString: config.databaseUrl,
  //: end
  //: if next
  connectionString: process.env.DATABASE_URL,
  //: end
  // Don't wait for a server that is down: the service delivers the event again.
  connectionTimeoutMillis: 1_000,
  query_timeout: 1_000,
});
// Without a listener, a broken idle connection would end the process.
pool.on('error', (error) => {
  console.warn(`Postgres: ${error.message}`);
});

/** Remembers which events are done, for all processes of this app. */
export const store = postgresStore(pool);
