import { randomUUID } from 'node:crypto';
import { mariadbProgram } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { COUNTER_SERIES } from '@call-webhooks/core/stores';
import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise';
import { mysqlDeadLetters, mysqlStore, type MysqlPool, type MysqlStore } from '../src/index.ts';

/** A server that exists already, such as MySQL 8 in a container, instead of a MariaDB of the tests' own. */
export const GIVEN_URL = process.env['MYSQL_URL'];

/** A suite that needs MariaDB, or the server of `MYSQL_URL`. */
export function withMysql(name: string, suite: () => void): void {
  const path = GIVEN_URL ?? mariadbProgram();
  describeWithProgram({ name: 'mariadbd', path, installedBy: 'mariadb-server' }, name, suite);
}

/** A suite that kills, freezes or fills its server, which has to be its own. */
export function withOwnMysql(name: string, suite: () => void): void {
  const path = mariadbProgram();
  if (path === undefined && GIVEN_URL !== undefined) return;
  describeWithProgram({ name: 'mariadbd', path, installedBy: 'mariadb-server' }, name, suite);
}

/** A pool as the README advises. */
export const openPool = (uri: string, options: PoolOptions = {}): Pool =>
  createPool({ uri, connectTimeout: 1_000, ...options });

export const freshPrefix = () => `t_${randomUUID().replaceAll('-', '').slice(0, 12)}_`;

/** The rows of a statement. */
export async function rowsOf<Row>(
  pool: Pool,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const [rows] = await pool.query<RowDataPacket[]>(text, values);
  return rows as Row[];
}

/** How what is written to these tables can be refused. */
export const refusingRows = (admin: Pool, prefix: string, ...tables: string[]) =>
  Object.fromEntries(
    tables.map((table) => [
      `a table ${table} that takes no rows`,
      async () => {
        await admin.query(
          `CREATE TRIGGER ${prefix}none BEFORE INSERT ON ${prefix}${table} FOR EACH ROW SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'no rows', MYSQL_ERRNO = 3819`,
        );
        return async () => admin.query(`DROP TRIGGER ${prefix}none`);
      },
    ]),
  );

/** Stores whose sweep may still be running. */
export const openedStores: Pick<MysqlStore, 'close'>[] = [];

/** A store for the contract tests. The server's clock can't be moved, so the times in the rows are. */
export async function openTestStore(
  admin: Pool,
  pool: MysqlPool = admin,
  others: MysqlPool[] = [],
) {
  const prefix = freshPrefix();
  const store = mysqlStore(pool, { prefix });
  openedStores.push(store);
  await store.migrate();
  return {
    store,
    others: others.map((other) => mysqlStore(other, { prefix })),
    prefix,
    now: Date.now,
    skewed: (ms: number) => mysqlStore(pool, { prefix, now: () => Date.now() + ms }),
    close: () => store.close(),
    refusals: refusingRows(admin, prefix, 'webhook_ids', 'events'),
    async setNewer(isNewer: boolean) {
      const by = isNewer ? '+ 1' : '- 1';
      await admin.query(`UPDATE ${prefix}schema_version SET version = version ${by}`);
    },
    async size() {
      const ofLog = ['batches', 'rows', 'counts', 'marks', 'processes'].map(
        (name) => `log_${name}`,
      );
      const tables = ['webhook_ids', 'events', 'event_groups', ...ofLog].map(
        (table) => `(SELECT COUNT(*) FROM ${prefix}${table})`,
      );
      const [row] = await rowsOf<{ size: number }>(admin, `SELECT ${tables.join(' + ')} AS size`);
      return row!.size;
    },
    async advance(ms: number) {
      await admin.query(
        `UPDATE ${prefix}events SET lease_until = lease_until - ?, keep_until = keep_until - ?`,
        [ms, ms],
      );
      const columns = {
        ...{ webhook_ids: ['keep_until'], event_groups: ['keep_until'] },
        ...{ log_rows: ['taken_at', 'first_at', 'last_at'], log_batches: ['taken_at'] },
        ...{ log_marks: ['marked_at'], log_processes: ['seen_at'] },
      };
      for (const [table, times] of Object.entries(columns)) {
        const set = times.map((time) => `${time} = ${time} - ${String(ms)}`).join();
        await admin.query(`UPDATE ${prefix}${table} SET ${set}`);
      }
      // Negative in between, so that no period takes the place of another one.
      const counts = `UPDATE ${prefix}log_counts SET period_number`;
      for (const [series, { periodMs }] of Object.entries(COUNTER_SERIES))
        await admin.query(
          `${counts} = ${String(Math.floor(ms / periodMs))} - period_number WHERE series = '${series}'`,
        );
      await admin.query(`${counts} = -period_number`);
    },
  };
}

/** Dead letters for the contract tests. */
export async function openTestDeadLetters(admin: Pool) {
  const prefix = freshPrefix();
  const deadLetters = mysqlDeadLetters(admin, { prefix });
  await deadLetters.migrate();
  return {
    deadLetters,
    refusals: refusingRows(admin, prefix, 'dead_letters'),
    async advance(ms: number) {
      await admin.query(`UPDATE ${prefix}dead_letters SET claimed_until = claimed_until - ?`, [ms]);
      // Whose turn it is to remove what has expired, and until when.
      await admin.query(
        `UPDATE ${prefix}cursors SET position = CONCAT(SUBSTRING_INDEX(position, ' ', 1), ' ', SUBSTRING_INDEX(position, ' ', -1) - ${String(ms)} DIV 1)`,
      );
    },
  };
}
