import { setTimeout } from 'node:timers/promises';
import * as runner from '@jest/globals';
import { describe, expect, it } from '@jest/globals';
import { twoNamesTest, waitFor } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import { storeContractTests } from '@call-webhooks/store-tests';
import { createPool as createCallbackPool } from 'mysql2';
import { mysqlDeadLetters, mysqlStore } from '../src/index.ts';
import {
  freshPrefix,
  openedStores,
  openPool,
  openTestStore,
  rowsOf,
  withMysql,
} from './support.ts';
import { useMysql } from './use-mysql.ts';

/** What an application may have told its connections; none of it may matter. */
const ODD_SESSION = [
  `SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ONLY_FULL_GROUP_BY'`,
  `SET SESSION time_zone = '-11:00', autocommit = 0, innodb_lock_wait_timeout = 3`,
  'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
];

withMysql('mysqlStore', () => {
  const test = useMysql();

  storeContractTests(runner, {
    name: 'a pool of mysql2/promise',
    open: () => openTestStore(test.pool),
  });

  storeContractTests(runner, {
    name: 'pools of mysql2, with settings that change how rows and texts look',
    async open() {
      const pools = [0, 1].map(() => {
        const pool = createCallbackPool({
          uri: test.url,
          ...{ connectionLimit: 10, charset: 'latin1', rowsAsArray: true, dateStrings: true },
          ...{ namedPlaceholders: true, typeCast: false, bigNumberStrings: true },
          ...{ supportBigNumbers: true, decimalNumbers: true, flags: ['-FOUND_ROWS'] },
        });
        pool.on('connection', (connection) => {
          for (const statement of ODD_SESSION) connection.query(statement);
        });
        return pool;
      });
      const opened = await openTestStore(test.pool, pools[0], [pools[1]!]);
      return {
        ...opened,
        async close() {
          await opened.close();
          for (const pool of pools) await pool.promise().end();
        },
      };
    },
  });

  twoNamesTest(async (name) => {
    const prefix = `${name}_`;
    const store = mysqlStore(test.pool, { prefix });
    openedStores.push(store);
    await store.migrate();
    return { store, deadLetters: mysqlDeadLetters(test.pool, { prefix }) };
  });

  const claim = (number: number, more: Partial<Claim> = {}): Claim => ({
    webhookId: `webhook-${String(number)}`,
    replayUntil: Date.now() + 600_000,
    key: 'event-1',
    leaseMs: 60_000,
    token: `token-${String(number)}`,
    ...more,
  });

  it.each<[string, Partial<Claim>, string]>([
    ['of a call', { leaseMs: 1e300 }, 'Out of range'],
    ['within its transaction', { leaseMs: 2 ** 63 - 2_048 }, 'out of range'],
    ['of a lock that is not free within a second', { key: 'locked' }, 'Lock wait timeout'],
  ])(
    'leaves the settings of a connection as they were, and nothing of a claim, after an error %s',
    async (_what, odd, says) => {
      const pool = openPool(test.url, { connectionLimit: 1 });
      const prefix = freshPrefix();
      const store = mysqlStore(pool, { prefix });
      await store.migrate();
      await store.admit(claim(1, { key: 'locked' }));
      const other = await test.pool.getConnection();
      await other.beginTransaction();
      await other.query(`SELECT * FROM ${prefix}events WHERE event_key = 'locked' FOR UPDATE`);
      await pool.query('SET SESSION innodb_lock_wait_timeout = 7');
      await pool.query('SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      const settings = () =>
        rowsOf(
          pool,
          `SHOW VARIABLES WHERE Variable_name IN ('innodb_lock_wait_timeout', 'tx_isolation', 'transaction_isolation', 'sql_mode', 'autocommit')`,
        );
      const before = await settings();
      expect(await store.admit(claim(2))).toEqual({ status: 'admitted', attempt: 1 });
      expect(await settings()).toEqual(before);
      const startedAt = performance.now();
      await expect(store.admit(claim(3, { key: 'event-2', ...odd }))).rejects.toMatchObject({
        message: expect.stringContaining(says),
      });
      expect(performance.now() - startedAt).toBeLessThan(4_500);
      expect(await settings()).toEqual(before);
      await other.rollback();
      other.release();
      // The webhook id would be known, or locked, if the transaction had not been rolled back.
      const again = { ...claim(3, { key: 'event-2' }), token: 'another token' };
      const others = mysqlStore(test.pool, { prefix });
      expect(await others.admit(again)).toEqual({ status: 'admitted', attempt: 1 });
      for (const one of [store, others]) await one.close();
      await pool.end();
    },
  );

  it('sends no claim that waited too long for a connection, and keeps the connection', async () => {
    const { store, prefix, close } = await openTestStore(test.pool);
    const pool = openPool(test.url, { connectionLimit: 1 });
    const few = mysqlStore(pool, { prefix });
    const held = await pool.getConnection();
    const { threadId } = held;
    const late = Promise.allSettled(
      [1, 2, 3].map((number) => few.admit(claim(number, { within: 20 }))),
    );
    await setTimeout(20);
    held.release();
    for (const outcome of await late)
      expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('not sent') } });
    const next = await pool.getConnection();
    expect(next.threadId).toBe(threadId);
    next.release();
    expect(await store.admit(claim(4))).toEqual({ status: 'admitted', attempt: 1 });
    await pool.end();
    await close();
  });

  it('keeps keys apart that collations take for the same', async () => {
    const { store, close } = await openTestStore(test.pool);
    const keys = ['a', 'A', 'á', 'a ', 'a  ', ' a', 'ａ', 'a\u0301', 'á\u200b', 'ß', 'ss', 'a\t'];
    for (const [at, key] of keys.entries())
      expect(await store.admit(claim(at, { key, webhookId: key, group: key }))).toEqual({
        status: 'admitted',
        attempt: 1,
      });
    expect(await store.peek!(keys)).toEqual(keys.map(() => 'running'));
    await close();
  });

  describe('racing machines', () => {
    it('has one winner in each of 8 rounds of 200 claims over 20 connections', async () => {
      const { store, close } = await openTestStore(test.pool);
      for (let round = 1; round <= 8; round++) {
        const admissions = await Promise.all(
          Array.from({ length: 200 }, (_, number) => store.admit(claim(round * 1_000 + number))),
        );
        const won = admissions.flatMap((admission, number) =>
          admission.status === 'admitted' ? [{ number, attempt: admission.attempt }] : [],
        );
        expect(won).toEqual([{ number: expect.any(Number), attempt: round }]);
        const token = `token-${String(round * 1_000 + won[0]!.number)}`;
        expect(await store.release('event-1', token)).toBe(true);
      }
      await close();
    });

    it('gives one webhook id to one of 50 claims', async () => {
      const { store, close } = await openTestStore(test.pool);
      const admissions = await Promise.all(
        Array.from({ length: 50 }, (_, number) =>
          store.admit(claim(number, { webhookId: 'the-same', key: `event-${String(number)}` })),
        ),
      );
      expect(admissions.filter(({ status }) => status === 'admitted')).toHaveLength(1);
      expect(admissions.filter(({ status }) => status === 'replayed')).toHaveLength(49);
      await close();
    });

    // Under REPEATABLE READ, the gap locks of inserts and deletes would let some of them deadlock.
    it('has no deadlock among claims, ends and sweeps of neighbouring keys', async () => {
      const { store, close } = await openTestStore(test.pool);
      const before = await deadlocks();
      const sweeping = { isOver: false };
      const sweeps = (async () => {
        while (!sweeping.isOver) {
          await store.sweep();
        }
      })();
      await Promise.all(
        Array.from({ length: 16 }, async (_, worker) => {
          for (let turn = 0; turn < 40; turn++) {
            const number = turn * 16 + worker;
            const group = turn % 2 === 0 ? `group-${String(turn % 5)}` : undefined;
            // Half of the ids may be swept as soon as they are there.
            const replayUntil = turn % 4 < 2 ? 1 : Date.now() + 600_000;
            const one = claim(number, { key: `event-${String(number)}`, group, replayUntil });
            const { status } = await store.admit(one);
            expect(['admitted', 'group-busy']).toContain(status);
            if (status !== 'admitted') continue;
            expect(await store.extend(one.key!, one.token, 60_000)).toBe(true);
            expect(await store.complete(one.key!, one.token)).toBe(true);
          }
        }),
      );
      sweeping.isOver = true;
      await sweeps;
      expect((await deadlocks()) - before).toBe(0);
      await close();
    }, 60_000);

    async function deadlocks(): Promise<number> {
      const [row] = await rowsOf<{ count: string }>(
        test.pool,
        `SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'`,
      );
      return Number(row!.count);
    }

    it('makes a call again whose transaction was ended because of a deadlock', async () => {
      const { store, prefix, close } = await openTestStore(test.pool);
      for (const [at, key] of ['a', 'b'].entries())
        await store.admit(claim(at, { key, group: key }));
      // A transaction that has the event of the group, and then wants the group.
      const other = await test.pool.getConnection();
      await other.beginTransaction();
      await other.query(`UPDATE ${prefix}events SET attempt = attempt WHERE event_key = 'a'`);
      for (let row = 0; row < 50; row++)
        // so that the server ends the other one
        await other.query(`INSERT INTO ${prefix}cursors VALUES ('${String(row)}', '')`);
      const hasGroup = async () => {
        const waiting = `SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'`;
        return (await rowsOf(test.pool, waiting)).length > 0;
      };
      const pending = store.admit(claim(3, { key: 'c', group: 'a' }));
      // The server shows this anew only to those that have not asked for 100 ms.
      await waitFor(hasGroup, { every: 200 });
      await other.query(`UPDATE ${prefix}event_groups SET keep_until = keep_until WHERE id = 'a'`);
      await other.commit();
      other.release();
      expect(await pending).toEqual({ status: 'group-busy' });
      await close();
    });
  });

  it('removes old rows in steps, and nothing else', async () => {
    const { store, prefix, advance, close } = await openTestStore(test.pool);
    const old = Array.from({ length: 2_500 }, (_, n) => [`old-${String(n)}`, 't', 1]);
    await test.pool.query(`INSERT INTO ${prefix}webhook_ids (id, token, keep_until) VALUES ?`, [
      old,
    ]);
    const live = claim(1, { group: 'g' });
    await store.admit(live); // sweeps, too
    const ids = () => rowsOf<{ id: Buffer }>(test.pool, `SELECT id FROM ${prefix}webhook_ids`);
    while ((await ids()).length > 1) await store.sweep();
    expect((await ids()).map(({ id }) => id.toString())).toEqual([live.webhookId]);
    await store.complete('event-1', live.token);
    await advance(86_400_000 - 60_000);
    expect(await store.sweep()).toBe(1); // the webhook id
    expect(await store.admit(claim(2))).toEqual({ status: 'duplicate' });
    await advance(121_000);
    expect(await store.admit(claim(3))).toEqual({ status: 'admitted', attempt: 1 });
    await close();
  });

  it('removes old rows of each table, and waits for none that somebody has locked', async () => {
    const { store, prefix, advance, close } = await openTestStore(test.pool);
    const tables = ['webhook_ids', 'events', 'event_groups'];
    for (const number of [1, 2])
      await store.admit(claim(number, { key: `event-${String(number)}`, group: String(number) }));
    await close(); // waits for the sweep of the first claim
    await advance(2 * 86_400_000);
    const left = async () => {
      const texts = tables.map((table) => `(SELECT COUNT(*) FROM ${prefix}${table})`);
      const [row] = await rowsOf<object>(test.pool, `SELECT ${texts.join()}`);
      return Object.values(row!) as unknown[];
    };
    expect(await left()).toEqual([2, 2, 2]);
    const other = await test.pool.getConnection();
    await other.beginTransaction();
    for (const table of tables)
      await other.query(`SELECT * FROM ${prefix}${table} ORDER BY 1 LIMIT 1 FOR UPDATE`);
    expect(await store.sweep()).toBe(3);
    expect(await left()).toEqual([1, 1, 1]);
    await other.rollback();
    other.release();
    expect(await store.sweep()).toBe(3);
    expect(await left()).toEqual([0, 0, 0]);
  });

  it.each(['webhook_ids', 'events', 'event_groups'])(
    'is down without the table %s',
    async (table) => {
      const { store, prefix } = await openTestStore(test.pool);
      const receiver = createReceiver({ secret: generateSecret(), store });
      expect(await receiver.health()).toMatchObject({ ok: true, store: { status: 'up' } });
      await test.pool.query(`DROP TABLE ${prefix}${table}`);
      const error = expect.stringContaining(`${prefix}${table}' doesn't exist`) as unknown;
      expect(await receiver.health()).toMatchObject({
        ok: false,
        store: { status: 'down', error },
      });
    },
  );

  it('says what to do when the tables or the procedures are missing', async () => {
    const { store, prefix } = await openTestStore(test.pool);
    await test.pool.query(`DROP PROCEDURE ${prefix}admit`); // as after a dump without --routines
    await expect(store.admit(claim(1))).rejects.toThrow('await store.migrate()');
    expect(await store.migrate()).toEqual({ from: 1, to: 1 });
    expect((await store.admit(claim(1))).status).toBe('admitted');
    const missing = mysqlStore(test.pool, { prefix: freshPrefix() });
    await expect(missing.admit(claim(1))).rejects.toThrow('await store.migrate()');
    const { store: health } = await createReceiver({
      secret: generateSecret(),
      store: missing,
    }).health();
    expect(health.error).toContain('Run `await store.migrate()` once.');
    const nowhere = openPool(test.url.replace(/\/\w+$/, ''));
    await expect(mysqlStore(nowhere).migrate()).rejects.toThrow('The pool has no database');
    await nowhere.end();
  });
});
