import { randomUUID } from 'node:crypto';
import { postgresBinaries } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { COUNTER_SERIES } from '@call-webhooks/core/stores';
import pg from 'pg';
import { postgresDeadLetters, postgresStore, type PostgresClient } from '../src/index.ts';

/** A suite that needs Postgres. */
export function withPostgres(name: string, suite: () => void): void {
  describeWithProgram(
    { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
    name,
    suite,
  );
}

/** A pool as the README advises. */
export function openPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
    ...options,
  });
  pool.on('error', () => undefined);
  return pool;
}

export const freshSchema = () => `t_${randomUUID().replaceAll('-', '')}`;

/** A store for the contract tests. The server's clock can't be moved, so the times in the rows are. */
export async function openTestStore(client: PostgresClient) {
  const schema = freshSchema();
  const store = postgresStore(client, { schema });
  await store.migrate();
  return {
    store,
    schema,
    now: Date.now,
    skewed: (ms: number) => postgresStore(client, { schema, now: () => Date.now() + ms }),
    close: () => store.close(),
    refusals: Object.fromEntries(
      ['webhook_ids', 'events'].map((table) => [
        `a table ${table} that takes no rows`,
        async () => {
          await client.query(
            `ALTER TABLE ${schema}.${table} ADD CONSTRAINT none CHECK (false) NOT VALID`,
          );
          return async () => client.query(`ALTER TABLE ${schema}.${table} DROP CONSTRAINT none`);
        },
      ]),
    ),
    async setNewer(isNewer: boolean) {
      const by = isNewer ? '+ 1' : '- 1';
      await client.query(`UPDATE ${schema}.schema_version SET version = version ${by}`);
    },
    async size() {
      const ofLog = ['batches', 'rows', 'counts', 'marks', 'processes'].map(
        (name) => `log_${name}`,
      );
      const tables = ['webhook_ids', 'events', 'groups', ...ofLog].map(
        (table) => `(SELECT count(*) FROM ${schema}.${table})`,
      );
      const result = await client.query(`SELECT (${tables.join(' + ')})::int AS size`);
      const rows = Array.isArray(result) ? result : (result as { rows: unknown[] }).rows;
      return (rows as { size: number }[])[0]!.size;
    },
    async advance(ms: number) {
      const back = `- ${String(ms)} * interval '1 millisecond'`;
      await client.query(
        `UPDATE ${schema}.events SET lease_until = lease_until ${back}, keep_until = keep_until ${back}`,
      );
      for (const table of ['webhook_ids', 'groups'])
        await client.query(`UPDATE ${schema}.${table} SET keep_until = keep_until ${back}`);
      const columns = {
        ...{ log_rows: ['taken_at', 'first_at', 'last_at'], log_batches: ['taken_at'] },
        ...{ log_marks: ['at'], log_processes: ['seen_at'] },
      };
      for (const [table, times] of Object.entries(columns)) {
        const set = times.map((time) => `${time} = ${time} - ${String(ms)}`).join();
        await client.query(`UPDATE ${schema}.${table} SET ${set}`);
      }
      // Negative in between, so that no period takes the place of another one.
      const counts = `UPDATE ${schema}.log_counts SET at`;
      for (const [series, { periodMs }] of Object.entries(COUNTER_SERIES))
        await client.query(
          `${counts} = ${String(Math.floor(ms / periodMs))} - at WHERE series = '${series}'`,
        );
      await client.query(`${counts} = -at`);
    },
  };
}

/** Dead letters for the contract tests. */
export async function openTestDeadLetters(client: PostgresClient) {
  const schema = freshSchema();
  const deadLetters = postgresDeadLetters(client, { schema });
  await deadLetters.migrate();
  return {
    deadLetters,
    refusals: {
      'a table that takes no rows': async () => {
        const table = `${schema}.dead_letters`;
        await client.query(`ALTER TABLE ${table} ADD CONSTRAINT none CHECK (false) NOT VALID`);
        return async () => client.query(`ALTER TABLE ${table} DROP CONSTRAINT none`);
      },
    },
    async advance(ms: number) {
      const back = `claimed_until - ${String(ms)} * interval '1 millisecond'`;
      await client.query(`UPDATE ${schema}.dead_letters SET claimed_until = ${back}`);
      // Whose turn it is to remove what has expired, and until when.
      await client.query(
        `UPDATE ${schema}.cursors SET cursor = concat(split_part(cursor, ' ', 1), ' ', split_part(cursor, ' ', 2)::float8 - ${String(ms / 1_000)})`,
      );
    },
  };
}
