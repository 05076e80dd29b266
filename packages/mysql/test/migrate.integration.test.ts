import { expect, it } from '@jest/globals';
import type { Pool } from 'mysql2/promise';
import { mysqlDeadLetters, mysqlStore } from '../src/index.ts';
import { freshPrefix, openPool, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

/** How many machines migrate at once, and how often. */
const MACHINES = 8;
const ROUNDS = 3;

/** The columns of each table, and its keys. */
const TABLES = {
  cursors: ['name varbinary(1024) NOT NULL, position longblob NOT NULL', 'PRIMARY (name)'],
  dead_letters: [
    'id varbinary(1024) NOT NULL, failed_at bigint NOT NULL, reason varbinary(64) NOT NULL, event_name varbinary(1024) NOT NULL, tenant varbinary(1024) NOT NULL, letter longblob NOT NULL, failures longblob NOT NULL, body longblob NOT NULL, token varbinary(255), claimed_until bigint',
    'PRIMARY (id)',
    'failed_at (failed_at, id)',
  ],
  event_groups: [
    'id varbinary(1024) NOT NULL, event_key varbinary(1024) NOT NULL, keep_until bigint NOT NULL',
    'PRIMARY (id)',
    'keep_until (keep_until)',
  ],
  events: [
    "event_key varbinary(1024) NOT NULL, token varbinary(255) NOT NULL, attempt int NOT NULL, state enum('open','done','dead-lettered') NOT NULL, lease_until bigint NOT NULL, keep_until bigint NOT NULL",
    'PRIMARY (event_key)',
    'keep_until (keep_until)',
  ],
  log_batches: [
    'id varbinary(1024) NOT NULL, taken_at bigint NOT NULL',
    'PRIMARY (id)',
    'taken_at (taken_at)',
  ],
  log_counts: [
    'series varchar(16) NOT NULL, period_number bigint NOT NULL, name varbinary(2048) NOT NULL, amount bigint NOT NULL',
    'PRIMARY (series, period_number, name)',
  ],
  log_marks: [
    'name varbinary(2048) NOT NULL, marked_at bigint NOT NULL',
    'PRIMARY (name)',
    'marked_at (marked_at)',
  ],
  log_position: [
    'only_row tinyint NOT NULL, n bigint NOT NULL, others bigint NOT NULL, failures bigint NOT NULL',
    'PRIMARY (only_row)',
  ],
  log_processes: [
    'id varbinary(1024) NOT NULL, process longblob NOT NULL, seen_at bigint NOT NULL',
    'PRIMARY (id)',
    'seen_at (seen_at)',
  ],
  log_rows: [
    'n bigint NOT NULL, failures tinyint NOT NULL, earlier bigint NOT NULL, amount int NOT NULL, taken_at bigint NOT NULL, first_at bigint NOT NULL, last_at bigint NOT NULL, ahead bigint NOT NULL, outcomes longblob NOT NULL',
    'PRIMARY (n, failures)',
    'earlier (failures, earlier)',
    'taken_at (taken_at)',
  ],
  schema_version: [
    'only_row tinyint NOT NULL, version int NOT NULL, id varchar(36) NOT NULL',
    'PRIMARY (only_row)',
  ],
  webhook_ids: [
    'id varbinary(1024) NOT NULL, token varbinary(255) NOT NULL, keep_until bigint NOT NULL',
    'PRIMARY (id)',
    'keep_until (keep_until)',
  ],
};

interface Found {
  name: string;
  found: string;
}

withMysql('migrate()', () => {
  const test = useMysql();

  it('creates the tables once, by several machines at once', async () => {
    const pools = Array.from({ length: MACHINES }, () =>
      openPool(test.url, { connectionLimit: 1 }),
    );
    for (let round = 0; round < ROUNDS; round++) {
      const prefix = freshPrefix();
      const migrations = await Promise.all(
        pools.map((pool) => mysqlStore(pool, { prefix }).migrate()),
      );
      expect(migrations.map(({ to }) => to)).toEqual(pools.map(() => 1));
      expect(migrations.filter(({ from }) => from === 0).length).toBeGreaterThanOrEqual(1);
      expect(await rowsOf(test.pool, `SELECT version FROM ${prefix}schema_version`)).toEqual([
        { version: 1 },
      ]);
    }
    await Promise.all(pools.map((pool) => pool.end()));
  }, 60_000);

  it('does nothing more then, and is the same for dead letters', async () => {
    const prefix = freshPrefix();
    expect(await mysqlDeadLetters(test.pool, { prefix }).migrate()).toEqual({ from: 0, to: 1 });
    expect(await mysqlStore(test.pool, { prefix }).migrate()).toEqual({ from: 1, to: 1 });
  });

  it('makes these tables, columns and keys', async () => {
    const prefix = freshPrefix();
    await mysqlStore(test.pool, { prefix }).migrate();
    const of = `FROM information_schema.tables AS one LEFT JOIN information_schema`;
    const named = `WHERE one.table_schema = DATABASE() AND LEFT(one.table_name, ?) = ?`;
    const columns = await rowsOf<Found>(
      test.pool,
      `SELECT one.table_name AS name, GROUP_CONCAT(column_name, ' ', column_type, IF(is_nullable = 'NO', ' NOT NULL', '')
         ORDER BY ordinal_position SEPARATOR ', ') AS found
       ${of}.columns USING (table_schema, table_name) ${named} GROUP BY one.table_name`,
      [prefix.length, prefix],
    );
    const keys = await rowsOf<Found>(
      test.pool,
      `SELECT one.table_name AS name, CONCAT(index_name, ' (', GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', '), ')') AS found
       ${of}.statistics USING (table_schema, table_name) ${named} GROUP BY one.table_name, index_name ORDER BY index_name <> 'PRIMARY', index_name`,
      [prefix.length, prefix],
    );
    const made: Record<string, string[]> = {};
    for (const { name, found } of [...columns, ...keys])
      (made[name.slice(prefix.length)] ??= []).push(found.replaceAll(/int\(\d+\)/g, 'int')); // MariaDB shows a width
    expect(made).toEqual(TABLES);
  });

  it('makes what was dropped again, and leaves the others as they are', async () => {
    const prefix = freshPrefix();
    const store = mysqlStore(test.pool, { prefix });
    await store.migrate();
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await store.admit({ ...claim, key: 'k', token: 't' });
    const [found] = await rowsOf<{ id: string }>(
      test.pool,
      `SELECT id FROM ${prefix}schema_version`,
    );
    const others = Object.keys(TABLES).filter((name) => name !== 'schema_version');
    for (const name of others.filter((one) => one !== 'events')) {
      await test.pool.query(`DROP TABLE ${prefix}${name}`);
      expect(await store.migrate()).toEqual({ from: 1, to: 1 });
      expect(await rowsOf(test.pool, `SELECT * FROM ${prefix}${name}`)).toEqual([]);
    }
    expect(await store.peek!(['k'])).toEqual(['running']);
    expect(await rowsOf(test.pool, `SELECT version, id FROM ${prefix}schema_version`)).toEqual([
      { version: 1, id: found!.id },
    ]);
  });

  it('goes on where a migration was interrupted', async () => {
    const prefix = freshPrefix();
    const store = mysqlStore(test.pool, { prefix });
    await store.migrate();
    await test.pool.query(`DELETE FROM ${prefix}schema_version`);
    await test.pool.query(`DROP TABLE ${prefix}events`);
    await test.pool.query(`DROP PROCEDURE ${prefix}extend`);
    expect(await store.migrate()).toEqual({ from: 0, to: 1 });
    await store.ping();
  });

  it('gives no connection back to its pool that has its lock or its settings', async () => {
    const prefix = freshPrefix();
    const [first, second] = [1, 2].map(() => openPool(test.url, { connectionLimit: 1 })) as [
      Pool,
      Pool,
    ];
    const settings = `SELECT @@SESSION.sql_mode AS mode, @@SESSION.autocommit AS autocommit`;
    const usual = await rowsOf(second, settings);
    await mysqlStore(first, { prefix }).migrate();
    expect(await rowsOf(first, settings)).toEqual(usual);
    // It would wait for the lock.
    await test.pool.query(`DROP PROCEDURE ${prefix}extend`);
    const startedAt = performance.now();
    expect(await mysqlStore(second, { prefix }).migrate()).toEqual({ from: 1, to: 1 });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(await rowsOf(second, settings)).toEqual(usual);
    await Promise.all([first.end(), second.end()]);
  }, 60_000);

  it('cuts no text off, whatever the mode of the connection is', async () => {
    const pool = openPool(test.url, { connectionLimit: 1 });
    await pool.query(`SET SESSION sql_mode = ''`);
    const store = mysqlStore(pool, { prefix: freshPrefix() });
    await store.migrate();
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000, key: 'k' };
    await expect(store.admit({ ...claim, token: 'x'.repeat(256) })).rejects.toThrow('too long');
    await pool.end();
  });

  it('refuses tables of a newer release, whose calls would be wrong', async () => {
    const prefix = freshPrefix();
    await mysqlStore(test.pool, { prefix }).migrate();
    await test.pool.query(`UPDATE ${prefix}schema_version SET version = 2`);
    const store = mysqlStore(test.pool, { prefix });
    for (const call of [() => store.migrate(), () => store.extend('a', 't', 5)])
      await expect(call()).rejects.toThrow('have version 2, which a newer release');
    await test.pool.query(`DROP PROCEDURE ${prefix}extend`);
    await expect(store.extend('a', 't', 5)).rejects.toThrow(
      'have version 2, which a newer release',
    );
    await test.pool.query(`CREATE PROCEDURE ${prefix}extend(p_one INT) SELECT 1`);
    await expect(store.extend('a', 't', 5)).rejects.toThrow(
      'have version 2, which a newer release',
    );
  });
});
