import { mysqlStore } from '@call-webhooks/mysql';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import type { Effect, EffectTable } from '../effects.ts';
import { retryUntilSuccess, type Engine } from './engine.ts';

const noQueue = () => Promise.reject(new Error('There is no queue in MySQL.'));

export const mysql: Engine = {
  async store(uri) {
    const pool = createPool({ uri, connectTimeout: 1_000 });
    const store = mysqlStore(pool);
    await retryUntilSuccess(() => store.migrate());
    return store;
  },
  queue: noQueue,
  deadJobs: noQueue,
  startWorker: noQueue,
  state(uri) {
    const pool = createPool({ uri, connectTimeout: 1_000 });
    return Promise.resolve({
      async rows(key) {
        const [rows] = await pool.query<RowDataPacket[]>(
          `SELECT CONVERT(token USING utf8mb4) AS token, attempt, state, lease_until, keep_until
           FROM call_webhooks_events WHERE event_key = ?`,
          [Buffer.from(key)],
        );
        return rows;
      },
    });
  },
  effects: mysqlEffects,
};

/** How long a transaction waits for the server; milliseconds. */
const WITHIN_MS = 1_500;

/** Transactions of a pool of its own, as users have one. */
async function mysqlEffects(uri: string): Promise<EffectTable> {
  const pool = createPool({ uri, connectionLimit: 40, connectTimeout: 1_000 });
  await retryUntilSuccess(() =>
    pool.query(
      'CREATE TABLE IF NOT EXISTS effects (event_key TEXT, attempt INT, pid INT, at DOUBLE)',
    ),
  );
  return {
    async transact({ key, attempt, pid, at }, before) {
      const connection = await pool.getConnection();
      let failed = true;
      const run = (sql: string, values: unknown[] = []) =>
        connection.query({ sql, values, timeout: WITHIN_MS });
      try {
        await run('START TRANSACTION');
        await run('INSERT INTO effects VALUES (?, ?, ?, ?)', [key, attempt, pid, at]);
        await before({ query: (text: string) => run(text) });
        await run('COMMIT');
        failed = false;
      } finally {
        if (failed)
          connection.destroy(); // without its connection, a transaction is rolled back
        else connection.release();
      }
    },
    async read() {
      const [rows] = await pool.query<(Effect & RowDataPacket)[]>(
        'SELECT event_key AS `key`, attempt, pid, at FROM effects',
      );
      return rows;
    },
  };
}
