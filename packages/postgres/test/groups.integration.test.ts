import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { unique, waitFor } from '@call-webhooks/contract-tests';
import type { Store } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import type pg from 'pg';
import { postgresStore } from '../src/index.ts';
import { openTestStore, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

// Each interleaving is made with a transaction that stays open while a claim comes.

const admitted = { status: 'admitted', attempt: 1 };
const groupBusy = { status: 'group-busy' };
const claim = (key: string, more: Partial<Claim> = {}): Claim & { key: string } => ({
  webhookId: unique('webhook'),
  replayUntil: Date.now() + 600_000,
  leaseMs: 60_000,
  token: unique('token'),
  group: 'call-1',
  ...more,
  key,
});

withPostgres('groups of postgresStore', () => {
  let other: pg.PoolClient;
  afterAll(() => other.release()); // before the pool ends, which waits for it
  const test = usePostgres();
  beforeAll(async () => {
    other = await test.pool.connect();
  });

  /** A store within the open transaction of another process. */
  const within = (client: pg.PoolClient, schema: string): Store =>
    postgresStore({ query: (text, values) => client.query(text, values as unknown[]) }, { schema });

  /** Waits until a claim waits for a lock of the open transaction. */
  const isBlocked = () =>
    waitFor(async () => {
      const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%last AS%'`;
      return (await test.pool.query(sql)).rows.length > 0;
    });

  it('refuses a claim while another one is taking the group', async () => {
    const { store, schema } = await openTestStore(test.pool);
    for (const first of [claim('a'), claim('b')]) {
      await other.query('BEGIN');
      expect(await within(other, schema).admit(first)).toEqual(admitted);
      const pending = store.admit(claim('c'));
      await isBlocked();
      await other.query('COMMIT');
      expect(await pending).toEqual(groupBusy);
      await store.complete(first.key, first.token);
    }
  });

  it('admits a claim when the one that was taking the group is rolled back', async () => {
    const { store, schema } = await openTestStore(test.pool);
    await other.query('BEGIN');
    await within(other, schema).admit(claim('a'));
    const pending = store.admit(claim('b'));
    await isBlocked();
    await other.query('ROLLBACK');
    expect(await pending).toEqual(admitted);
  });

  it('takes the same event that ran last and runs again for running', async () => {
    const { store, schema } = await openTestStore(test.pool);
    const first = claim('a');
    await store.admit(first);
    await store.release('a', first.token);
    await other.query('BEGIN');
    const again = await within(other, schema).admit(claim('a'));
    expect(again).toEqual({ status: 'admitted', attempt: 2 });
    const pending = store.admit(claim('b'));
    await isBlocked();
    await other.query('COMMIT');
    expect(await pending).toEqual(groupBusy);
  });

  it('lets a renewal win that was under way when the lease ran out', async () => {
    const { store, schema, advance } = await openTestStore(test.pool);
    const first = claim('a');
    await store.admit(first);
    await advance(59_000);
    await other.query('BEGIN');
    expect(await within(other, schema).extend('a', first.token, 60_000)).toBe(true);
    await waitFor(async () => {
      const sql = `SELECT FROM ${schema}.events WHERE lease_until < clock_timestamp()`;
      return (await test.pool.query(sql)).rows.length > 0;
    });
    const pending = store.admit(claim('b'));
    await isBlocked();
    await other.query('COMMIT');
    expect(await pending).toEqual(groupBusy);
    expect(await store.complete('a', first.token)).toBe(true);
    expect(await store.admit(claim('b'))).toEqual(admitted);
  });

  it("waits for nobody's transaction that completes an event, and takes it for running", async () => {
    const { store, schema } = await openTestStore(test.pool);
    const first = claim('a');
    await store.admit(first);
    await other.query('BEGIN');
    expect(await within(other, schema).complete('a', first.token)).toBe(true);
    const second = claim('b');
    expect(await store.admit(second)).toEqual(groupBusy);
    await other.query('COMMIT');
    expect(await store.admit(second)).toEqual(admitted);
  });

  it('is free when the event that ran last was deleted by hand', async () => {
    const { store, schema } = await openTestStore(test.pool);
    await store.admit(claim('a'));
    await test.pool.query(`DELETE FROM ${schema}.events`);
    expect(await store.admit(claim('b'))).toEqual(admitted);
  });

  it('sweeps groups as it sweeps events', async () => {
    const { store, schema } = await openTestStore(test.pool);
    await store.admit(claim('a'));
    await store.close(); // waits for the sweep of `admit`
    await test.pool.query(`UPDATE ${schema}.groups SET keep_until = now() - interval '1 second'`);
    expect(await store.sweep()).toBe(1);
    expect((await test.pool.query(`SELECT FROM ${schema}.groups`)).rows).toEqual([]);
  });
});
