import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';

/** What runs statements: the database, or one of its transactions. */
export interface Sql {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface Database extends Sql {
  /** Commits what `work` has written, or rolls it back if `work` fails. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the database, and creates the tables that are missing.
 * @param url of a Postgres server, which any number of receivers can share
 * @param folder without a URL: where PGlite, a Postgres inside of this process, keeps its data
 */
export async function openDatabase(url: string | undefined, folder: string): Promise<Database> {
  const database = url === undefined ? await PGlite.create(folder) : onServer(url);
  // Each event adds its half of a call.
  await database.query(
    'CREATE TABLE IF NOT EXISTS calls (id text PRIMARY KEY, call jsonb, recording jsonb)',
  );
  await database.query(
    'CREATE TABLE IF NOT EXISTS call_counts (user_id text PRIMARY KEY, calls int)',
  );
  return database;
}

function onServer(connectionString: string): Database {
  const timeouts = { connectionTimeoutMillis: 1_000, query_timeout: 1_000 };
  const pool = new Pool({ connectionString, ...timeouts });
  // Without listeners, a connection that breaks would end the process: one that is idle, or in use.
  const warn = (error: Error) => {
    console.warn(`Postgres: ${error.message}`);
  };
  pool.on('error', warn);
  pool.on('connect', (client) => client.on('error', warn));
  return {
    query: (text, values) => pool.query(text, values),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error) {
        client.release(true); // closes the connection, which rolls the transaction back
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
