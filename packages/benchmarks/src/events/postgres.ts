import pg from 'pg';
import { importPackage } from '../checkout.ts';
import { startPostgres } from '../stores/servers.ts';
import { idsBeside, type Database } from './filled-store.ts';

/**
 * What Postgres advises for a machine with 8 GB. By default it has 128 MB, in which the index of millions
 * of events has no room, and writes each page as a whole to its log after every gigabyte of it.
 */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '4GB' };

/** Each size in a schema of its own, on one server. */
export async function openPostgres(root: string): Promise<Database> {
  const { postgresStore } = await importPackage<typeof import('@call-webhooks/postgres')>(
    root,
    'postgres',
  );
  const server = await startPostgres(SETTINGS);
  const pool = new pg.Pool({ host: '127.0.0.1', port: server.port, user: 'postgres', max: 16 });
  pool.on('error', () => undefined); // the server stops before the last connection has ended
  const stores: { close(): Promise<void> }[] = [];

  async function one<Row>(text: string, values: unknown[] = []): Promise<Row> {
    const { rows } = await pool.query(text, values);
    return rows[0] as Row;
  }

  return {
    async fill(size) {
      const schema = `events_${String(size)}`;
      const [ids, events] = [`${schema}.webhook_ids`, `${schema}.events`] as const;
      const store = postgresStore(pool, { schema });
      stores.push(store);
      await store.migrate();
      // They expire one after the other, before those that are added later.
      const from = `now() + interval '12 hours' + number * interval '1 millisecond'
        FROM generate_series(1, $1::int) AS number`;
      await pool.query(
        `INSERT INTO ${ids} SELECT gen_random_uuid()::text, gen_random_uuid()::text, ${from}`,
        [idsBeside(size)],
      );
      await pool.query(
        `INSERT INTO ${events} (key, token, attempt, done, lease_until, keep_until)
         SELECT substr(md5(number::text), 1, 24) || ':call:completed', gen_random_uuid()::text, 1, true, now(), ${from}`,
        [size],
      );
      for (const table of [ids, events]) await pool.query(`VACUUM (ANALYZE) ${table}`);
      await pool.query('CHECKPOINT');
      const { bytes } = await one<{ bytes: string }>(
        'SELECT pg_total_relation_size($1) + pg_total_relation_size($2) AS bytes',
        [ids, events],
      );
      const { webhookId } = await one<{ webhookId: string }>(
        `SELECT id AS "webhookId" FROM ${ids} ORDER BY keep_until DESC LIMIT 1`,
      );
      const { key } = await one<{ key: string }>(
        `SELECT key FROM ${events} ORDER BY keep_until DESC LIMIT 1`,
      );
      return {
        store,
        known: { webhookId, key },
        bytesPerEvent: Number(bytes) / size,
        count: async () =>
          (await one<{ count: number }>(`SELECT count(*)::int AS count FROM ${events}`)).count,
        async expire(number) {
          for (const table of [ids, events])
            await pool.query(
              `UPDATE ${table} SET keep_until = now() WHERE keep_until <= (
                 SELECT max(keep_until) FROM (
                   SELECT keep_until FROM ${table} ORDER BY keep_until LIMIT $1) AS oldest)`,
              [number],
            );
        },
      };
    },
    async stop() {
      for (const store of stores) await store.close();
      await pool.end();
      await server.stop();
    },
  };
}
