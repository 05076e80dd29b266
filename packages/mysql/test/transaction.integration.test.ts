import { describe, expect, it } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import type { MysqlTransaction } from '../src/index.ts';
import { openPool, openTestStore, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

const LEASE_MS = 60_000;

withMysql('completeIn', () => {
  const test = useMysql();

  async function claimed() {
    const opened = await openTestStore(test.pool);
    const event = { key: unique('event'), token: unique('token') };
    const claim = { webhookId: unique('w'), replayUntil: Date.now() + 60_000, leaseMs: LEASE_MS };
    await opened.store.admit({ ...claim, ...event });
    return { ...opened, ...event };
  }

  const misuse = (part: string) => ({
    code: 'invalid-options',
    message: expect.stringContaining(part) as unknown,
  });

  it('refuses what runs statements, but not in one transaction, before it changes anything', async () => {
    const { store, key, token } = await claimed();
    const one = openPool(test.url, { connectionLimit: 1 });
    const connection = await one.getConnection();
    for (const tx of [
      connection, // without beginTransaction()
      { query: (text: string) => test.pool.query(text) },
      { query: (text: string) => connection.query(text) },
      { execute: (text: string) => connection.query(text) },
    ])
      await expect(store.completeIn(tx as MysqlTransaction, key, token)).rejects.toMatchObject(
        misuse('in no transaction'),
      );
    for (const pool of [test.pool, one])
      await expect(store.completeIn(pool, key, token)).rejects.toMatchObject(misuse('a pool runs'));
    await connection.beginTransaction();
    await connection.commit();
    await expect(store.completeIn(connection, key, token)).rejects.toMatchObject(
      misuse('in no transaction'),
    );
    connection.release();
    await one.end();
    expect(await store.peek!([key])).toEqual(['running']);
    expect(await store.complete(key, token)).toBe(true);
  });

  it('takes a connection without autocommit, which is always in a transaction', async () => {
    const { store, key, token } = await claimed();
    const pool = openPool(test.url, { connectionLimit: 1 });
    const tx = await pool.getConnection();
    await tx.query('SET autocommit = 0');
    expect(await store.completeIn(tx, key, token)).toBe(true);
    await tx.rollback();
    expect(await store.peek!([key])).toEqual(['running']);
    expect(await store.completeIn(tx, key, token)).toBe(true);
    await tx.commit();
    tx.release();
    await pool.end();
    expect(await store.peek!([key])).toEqual(['handled']);
  });

  it('keeps the savepoints of the transaction', async () => {
    const { store, key, token } = await claimed();
    const tx = await test.pool.getConnection();
    await tx.beginTransaction();
    await tx.query('SAVEPOINT mine');
    expect(await store.completeIn(tx, key, token)).toBe(true);
    await tx.query('ROLLBACK TO SAVEPOINT mine');
    await tx.commit();
    tx.release();
    expect(await store.peek!([key])).toEqual(['running']);
  });

  it('names a transaction on another server that has the same tables, and the same event', async () => {
    const { store, prefix, key, token } = await claimed();
    const tables = `${prefix}schema_version`;
    expect(
      await store.completeIn({ query: () => [] }, key, unique('token')).catch(String),
    ).toContain('returned no answer');
    const id = (await rowsOf<{ id: string }>(test.pool, `SELECT id FROM ${tables}`))[0]!.id;
    await test.pool.query(`UPDATE ${tables} SET id = 'of the other one'`);
    const tx = await test.pool.getConnection();
    await tx.beginTransaction();
    await expect(store.completeIn(tx, key, token)).rejects.toMatchObject(
      misuse('this connection is to a database that does not contain'),
    );
    await tx.rollback();
    await test.pool.query(`UPDATE ${tables} SET id = ?, version = 2`, [id]);
    await tx.beginTransaction();
    await expect(store.completeIn(tx, key, token)).rejects.toMatchObject(misuse('newer release'));
    await tx.rollback();
    tx.release();
  });

  describe.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])('under %s', (level) => {
    /** A transaction that has read before the lease is renewed. */
    async function begun(settings = '') {
      const opened = await claimed();
      const tx = await test.pool.getConnection();
      if (settings) await tx.query(`SET SESSION ${settings}`);
      await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
      await tx.beginTransaction();
      await tx.query(`SELECT * FROM ${opened.prefix}cursors`);
      return { ...opened, tx };
    }

    it('sees a lease that was renewed after the transaction began', async () => {
      const { store, key, token, tx, advance } = await begun();
      await advance(50_000);
      expect(await store.extend(key, token, 60_000)).toBe(true);
      await advance(20_000); // the lease that the snapshot of the transaction has is over
      expect(await store.completeIn(tx, key, token)).toBe(true);
      await tx.commit();
      tx.release();
      expect(await store.peek!([key])).toEqual(['handled']);
    });

    it('sees a lease that was lost after the transaction began', async () => {
      const { store, key, token, tx, advance } = await begun();
      await advance(70_000);
      const other = unique('token');
      const claim = { webhookId: unique('w'), replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      expect(await store.admit({ ...claim, key, token: other })).toEqual({
        status: 'admitted',
        attempt: 2,
      });
      expect(await store.completeIn(tx, key, token)).toBe(false);
      await tx.rollback();
      tx.release();
      expect(await store.complete(key, other)).toBe(true);
    });

    it('keeps no other claim waiting', async () => {
      const { store, key, token, tx } = await begun();
      expect(await store.completeIn(tx, key, token)).toBe(true);
      const claims = Array.from({ length: 30 }, (_, at) => ({
        ...{ webhookId: unique('w'), replayUntil: Date.now() + 60_000, leaseMs: 60_000 },
        ...{ key: `${key}${String(at)}`, token: unique('token') },
      }));
      const admissions = await Promise.all(claims.map((claim) => store.admit(claim)));
      expect(new Set(admissions.map(({ status }) => status))).toEqual(new Set(['admitted']));
      await tx.commit();
      tx.release();
    });

    // The default of MariaDB from 11.6.2 on.
    it('says why it failed with innodb_snapshot_isolation, if the lease was renewed meanwhile', async () => {
      const known = await rowsOf(test.pool, `SHOW VARIABLES LIKE 'innodb_snapshot_isolation'`);
      if (known.length === 0) return; // MySQL has no such setting
      const { store, key, token, tx } = await begun('innodb_snapshot_isolation = ON');
      expect(await store.extend(key, token, 60_000)).toBe(true);
      const completed = store.completeIn(tx, key, token);
      if (level === 'READ COMMITTED') expect(await completed).toBe(true);
      else
        await expect(completed).rejects.toMatchObject({
          ...misuse('Use READ COMMITTED'),
          cause: expect.objectContaining({ errno: 1020 }),
        });
      await tx.rollback();
      await tx.query('SET SESSION innodb_snapshot_isolation = OFF');
      tx.release();
    });
  });

  it.each([
    ['has lost a lease that ran out', LEASE_MS + 5_000, -30, false],
    ['keeps a lease that has not run out', LEASE_MS - 20_000, 30, true],
  ])(
    'while it waited for the row, %s: by the clock of then, not that of its beginning',
    async (_what, ms, seconds, isHeld) => {
      const { store, key, token, advance } = await claimed();
      await advance(ms);
      const tx = await test.pool.getConnection();
      await tx.beginTransaction();
      // As if the statement had begun at that time.
      await tx.query(`SET timestamp = UNIX_TIMESTAMP(SYSDATE()) + ${String(seconds)}`);
      expect(await store.completeIn(tx, key, token)).toBe(isHeld);
      await tx.query('SET timestamp = DEFAULT');
      await tx.rollback();
      tx.release();
    },
  );

  it('completes in the transaction of a database of its own, on the same server', async () => {
    const { store, key, token } = await claimed();
    const name = unique('db').replaceAll('-', '_');
    await test.pool.query(`CREATE DATABASE \`${name}\``);
    const uri = new URL(test.url);
    uri.pathname = name;
    const elsewhere = openPool(uri.href);
    const tx = await elsewhere.getConnection();
    await tx.beginTransaction();
    expect(await store.completeIn(tx, key, token)).toBe(true);
    await tx.commit();
    tx.release();
    await elsewhere.end();
    expect(await store.peek!([key])).toEqual(['handled']);
  });
});
