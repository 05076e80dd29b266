import { createPool as createCallbackPool } from 'mysql2';
import { createPool, type PoolConnection, type PoolOptions } from 'mysql2/promise';
import type { Transactions } from './open-with-effects.ts';

/** By name; `table` is the one of effects. */
export type Clients = Record<string, (url: string, table: string) => Transactions>;

const insertInto = (table: string) => `INSERT INTO ${table} (effect) VALUES (?)`;

/** mysql2 as its users use it. @param begin what begins a transaction */
const mysql2 =
  (
    options: PoolOptions = {},
    begin = (connection: PoolConnection): Promise<unknown> => connection.beginTransaction(),
  ) =>
  (uri: string, table: string): Transactions => {
    const pool = createPool({ uri, ...options });
    return {
      client: pool,
      async transact(work) {
        const connection = await pool.getConnection();
        try {
          await begin(connection);
          await work({
            tx: connection,
            write: (effect) => connection.query(insertInto(table), [effect]),
          });
          await connection.commit();
        } catch (error) {
          await connection.rollback();
          throw error;
        } finally {
          connection.release();
        }
      },
      close: () => pool.end(),
    };
  };

const under = (level: string) =>
  mysql2({}, async (connection) => {
    await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
    await connection.beginTransaction();
    await connection.query('SELECT * FROM information_schema.tables LIMIT 1');
  });

/** Clients that `completeIn` is promised for, as their users use them. `own-packages` has the others. */
export const CLIENTS: Clients = {
  'mysql2/promise, under REPEATABLE READ': under('REPEATABLE READ'),
  'mysql2/promise, under READ COMMITTED': under('READ COMMITTED'),
  'mysql2/promise, under SERIALIZABLE': under('SERIALIZABLE'),
  'mysql2/promise with rows as lists': mysql2({ rowsAsArray: true }),
  'mysql2 with callbacks'(uri, table) {
    const pool = createCallbackPool({ uri });
    return {
      client: pool,
      async transact(work) {
        const connection = await pool.promise().getConnection();
        try {
          await connection.beginTransaction();
          await work({
            tx: connection.connection, // which takes callbacks
            write: (effect) => connection.query(insertInto(table), [effect]),
          });
          await connection.commit();
        } catch (error) {
          await connection.rollback();
          throw error;
        } finally {
          connection.release();
        }
      },
      close: () => pool.promise().end(),
    };
  },
};
