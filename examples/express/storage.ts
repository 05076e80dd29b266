import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { Pool } from 'pg';

/** What remembers which events are done, and keeps those that failed for good. */
export type Storage = Awaited<ReturnType<typeof openStorage>>;

export const openStorage = ({ DATABASE_URL, SQLITE_FILE }: Partial<NodeJS.ProcessEnv>) =>
  DATABASE_URL ? openPostgres(DATABASE_URL) : openSqlite(SQLITE_FILE ?? 'calls.db');

/** A file, which any number of processes on this machine may share. */
function openSqlite(file: string) {
  const db = new Database(file);
  return {
    store: sqliteStore(db),
    deadLetters: sqliteDeadLetters(db),
    close: () => void db.close(),
  };
}

/** A server, for any number of machines. */
async function openPostgres(connectionString: string) {
  const pool = new Pool({
    connectionString,
    // Don't wait for a server that is down: the service sends the event again.
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  // Without a listener, a broken idle connection would end the process.
  pool.on('error', (error) => console.warn(`Postgres: ${error.message}`));
  const store = postgresStore(pool);
  await store.migrate(); // creates the tables that are missing
  return {
    store,
    deadLetters: postgresDeadLetters(pool),
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}
