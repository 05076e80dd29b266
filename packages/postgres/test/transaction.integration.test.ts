import { expect, it } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import { postgresStore } from '../src/index.ts';
import { freshSchema, openPool, openTestStore, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

withPostgres('completeIn', () => {
  const test = usePostgres();

  async function claimed() {
    const opened = await openTestStore(test.pool);
    const event = { key: unique('event'), token: unique('token') };
    const claim = { webhookId: unique('w'), replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await opened.store.admit({ ...claim, ...event });
    return { ...opened, ...event };
  }

  it('names a transaction on another database that has the same tables, and the same event', async () => {
    const { store, schema, key, token } = await claimed();
    const name = unique('db').replaceAll('-', '_');
    await test.pool.query(`CREATE DATABASE ${name}`);
    const elsewhere = openPool(test.server.url.replace(/postgres$/, name), {
      query_timeout: 20_000,
    });
    const other = postgresStore(elsewhere, { schema });
    await other.migrate();
    for (const hasEvent of [false, true]) {
      if (hasEvent)
        await elsewhere.query(
          `INSERT INTO ${schema}.events VALUES ($1, 'of it', 1, false, false, 'infinity', 'infinity')`,
          [key],
        );
      const tx = await elsewhere.connect();
      await tx.query('BEGIN');
      await expect(store.completeIn(tx, key, token)).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining('this connection is to a database that does not contain'),
      });
      await tx.query('ROLLBACK');
      tx.release();
    }
    // A lease that was lost is not taken for another database.
    const tx = await test.pool.connect();
    await tx.query('BEGIN');
    expect(await store.completeIn(tx, key, unique('token'))).toBe(false);
    expect(await store.completeIn(tx, key, token)).toBe(true);
    await tx.query('COMMIT');
    tx.release();
    await elsewhere.end();
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'says why a transaction under %s failed, if the lease was renewed meanwhile',
    async (level) => {
      const { store, schema, key, token } = await claimed();
      const tx = await test.pool.connect();
      await tx.query(`BEGIN ISOLATION LEVEL ${level}`);
      await tx.query(`SELECT FROM ${schema}.cursors`);
      expect(await store.extend(key, token, 60_000)).toBe(true);
      await expect(store.completeIn(tx, key, token)).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining('Use READ COMMITTED'),
        cause: expect.objectContaining({ code: '40001' }),
      });
      await tx.query('ROLLBACK');
      await tx.query(`BEGIN ISOLATION LEVEL ${level}`);
      expect(await store.completeIn(tx, key, token)).toBe(true);
      await tx.query('COMMIT');
      tx.release();
    },
  );
});

withPostgres('the version of the tables', () => {
  const test = usePostgres();

  it('of a newer release is refused by an older one, whose calls would be wrong', async () => {
    const schema = freshSchema();
    const migrated = postgresStore(test.pool, { schema });
    expect(await migrated.migrate()).toEqual({ from: 0, to: 1 });
    await test.pool.query(`UPDATE ${schema}.schema_version SET version = 2`);
    const store = postgresStore(test.pool, { schema });
    for (const call of [() => store.migrate(), () => store.extend('a', 't', 5)])
      await expect(call()).rejects.toThrow('have version 2, which a newer release');
  });
});
