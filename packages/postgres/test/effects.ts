import pg from 'pg';
import postgres from 'postgres';
import { insertInto, type Transactions } from './open-with-effects.ts';

/** By name; `schema` has the table of effects. */
export type Clients = Record<string, (url: string, schema: string) => Transactions>;

/** Clients that `completeIn` is promised for, as their users use them. `own-packages` has the others. */
export const CLIENTS: Clients = {
  pg(url, schema) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // the server may stop first
    return {
      client: pool,
      async transact(work) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await work({
            tx: client,
            write: (effect) => client.query(insertInto(schema), [effect]),
          });
          await client.query('COMMIT');
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
      close: () => pool.end(),
    };
  },
  'postgres.js'(url, schema) {
    const root = postgres(url, { onnotice: () => undefined });
    return {
      client: root,
      async transact(work) {
        await root.begin((sql) =>
          work({
            tx: sql,
            write: (effect) => sql`INSERT INTO ${sql(schema)}.effects ${sql({ effect })}`,
          }),
        );
      },
      close: () => root.end(),
    };
  },
  'postgres.js with renamed columns'(url, schema) {
    const root = postgres(url, { transform: postgres.toPascal });
    return {
      client: root,
      async transact(work) {
        await root.begin((sql) =>
          work({ tx: sql, write: (effect) => sql.unsafe(insertInto(schema), [effect]) }),
        );
      },
      close: () => root.end(),
    };
  },
};
