import { expect, it } from '@jest/globals';
import { mysqlDeadLetters, mysqlStore } from '../src/index.ts';
import { freshPrefix, openPool, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

/** How many machines migrate at once, and how often. */
const MACHINES = 8;
const ROUNDS = 3;

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
