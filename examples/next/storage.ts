import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { Pool } from 'pg';

const { DATABASE_URL, SQLITE_FILE = 'calls.db', NEXT_PHASE } = process.env;

/** What remembers which events are done, and keeps those that failed for good. */
export const { store, deadLetters, close } = DATABASE_URL
  ? openPostgres(DATABASE_URL)
  : openSqlite();

/** A file, which any number of processes on this machine may share. `next build` makes none. */
function openSqlite() {
  const db = new Database(NEXT_PHASE === 'phase-production-build' ? ':memory:' : SQLITE_FILE);
  return {
    store: sqliteStore(db),
    deadLetters: sqliteDeadLetters(db),
    close: () => void db.close(),
  };
}

/** A server, for any number of machines. instrumentation.ts creates the tables. */
function openPostgres(connectionString: string) {
  const pool = new Pool({
    connectionString,
    // Don't wait for a server that is down: the service sends the event again.
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  // Without a listener, a broken idle connection would end the process.
  pool.on('error', (error) => console.warn(`Postgres: ${error.message}`));
  return {
    store: postgresStore(pool),
    deadLetters: postgresDeadLetters(pool),
    close: () => pool.end(),
  };
}
