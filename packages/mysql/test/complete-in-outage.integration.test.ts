import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createReceiver, generateSecret, sign, type HandlerContext } from '@call-webhooks/core';
import {
  callBody,
  collectingLogger,
  startMysql,
  type MysqlServer,
} from '@call-webhooks/contract-tests';
import type { Pool, PoolConnection } from 'mysql2/promise';
import { mysqlStore } from '../src/index.ts';
import { openPool, rowsOf, withOwnMysql } from './support.ts';

withOwnMysql('completeIn when the server or the connection goes away', () => {
  let server: MysqlServer;
  /** Of the store, and of the user. */
  let pools: Pool[];
  let pool: Pool;
  let attempts: number[];
  /** What the handler does in its transaction, after `completeIn` and before COMMIT. */
  let beforeCommit: (connection: PoolConnection, context: HandlerContext) => unknown;
  let receivers: ReturnType<typeof createReceiver>[];
  const secret = generateSecret();

  beforeAll(async () => {
    server = await startMysql();
    const setup = openPool(server.url);
    await mysqlStore(setup).migrate();
    await setup.query('CREATE TABLE effects (effect TEXT)');
    await setup.end();
  }, 30_000);
  afterAll(() => server.remove());

  beforeEach(() => {
    attempts = [];
    beforeCommit = () => undefined;
    const ofStore = openPool(server.url);
    pool = openPool(server.url);
    pools = [ofStore, pool];
    receivers = [1, 2].map(() =>
      createReceiver({
        secret,
        store: mysqlStore(ofStore),
        leaseFor: 600,
        logger: collectingLogger(),
        on: { 'call:completed': (event, context) => handle(String(event.callId), context) },
      }),
    );
  });
  afterEach(async () => {
    for (const receiver of receivers) await receiver.close({ graceMs: 0 });
    for (const one of pools) await one.end();
  });

  async function handle(callId: string, context: HandlerContext): Promise<void> {
    attempts.push(context.attempt);
    const connection = await pool.getConnection();
    let failed = true;
    try {
      await connection.beginTransaction();
      await connection.query('INSERT INTO effects VALUES (?)', [callId]);
      await context.completeIn(connection);
      await beforeCommit(connection, context);
      await connection.query({ sql: 'COMMIT', timeout: 400 });
      failed = false;
    } finally {
      if (failed) connection.destroy();
      else connection.release();
    }
  }

  async function deliver(callId: string, receiver = 0): Promise<{ outcome: string; ms: number }> {
    const from = performance.now();
    const body = Buffer.from(callBody(callId));
    const headers = await sign({ secret, body });
    const { outcome } = await receivers[receiver]!.receive({ headers, body });
    return { outcome: outcome.outcome, ms: performance.now() - from };
  }

  async function effectsOf(callId: string): Promise<number> {
    const count = 'SELECT COUNT(*) AS count FROM effects WHERE effect = ?';
    return (await rowsOf<{ count: number }>(pool, count, [callId]))[0]!.count;
  }

  /** As the service does, until it is acknowledged. */
  async function deliverUntilAcknowledged(callId: string): Promise<string[]> {
    const outcomes: string[] = [];
    while (!['handled', 'duplicate'].includes(outcomes.at(-1) ?? '')) {
      if (outcomes.length > 0) await delay(200);
      expect(outcomes.slice(29)).toEqual([]);
      const { outcome } = await deliver(callId);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  it('the server freezes before COMMIT: 503, and the retry learns that it was committed', async () => {
    beforeCommit = () => {
      server.freeze();
    };
    const { outcome, ms } = await deliver('frozen');
    expect(outcome).toBe('store-unavailable');
    expect(ms).toBeLessThan(15_000); // 2 s, and time for a slow machine
    server.thaw();
    beforeCommit = () => undefined;
    const outcomes = await deliverUntilAcknowledged('frozen');
    // COMMIT had reached the server or not: in either case the effect is there once.
    expect(outcomes.at(-1)).toBe(attempts.length === 1 ? 'duplicate' : 'handled');
    expect(await effectsOf('frozen')).toBe(1);
  });

  it('the server is killed before COMMIT: 503, and the retry has the effect', async () => {
    beforeCommit = () => server.kill();
    expect((await deliver('killed')).outcome).toBe('store-unavailable');
    beforeCommit = () => undefined;
    await server.start();
    expect((await deliverUntilAcknowledged('killed')).at(-1)).toBe('handled');
    expect(await effectsOf('killed')).toBe(1);
    expect(attempts).toEqual([1, 2]);
  });

  it('the connection is lost before COMMIT: the handler has failed, and the retry has the effect', async () => {
    beforeCommit = (connection, { attempt }) =>
      attempt === 1 && pools[0]!.query(`KILL ${String(connection.threadId)}`);
    expect((await deliver('cut')).outcome).toBe('handler-failed');
    expect((await deliver('cut')).outcome).toBe('handled');
    expect(await effectsOf('cut')).toBe(1);
  });
  it('the transaction is open beyond the lease: nobody else runs the event, and no renewal harms', async () => {
    for (const commits of [true, false]) {
      const callId = `open ${String(commits)}`;
      attempts = [];
      let others: Promise<{ outcome: string; ms: number }>[] = [];
      let aborted: boolean | undefined;
      beforeCommit = async (_client, { signal, attempt }) => {
        if (attempt > 1) return;
        others = [deliver(callId, 1), deliver(callId, 0)];
        await delay(1_500); // two leases and a half
        aborted = signal.aborted;
        if (!commits) throw new Error('rolled back');
      };
      expect((await deliver(callId)).outcome).toBe(commits ? 'handled' : 'handler-failed');
      expect(aborted).toBe(false);
      for (const { outcome, ms } of await Promise.all(others)) {
        expect(outcome).toBe('store-unavailable'); // it waited for the lock for as long as it may
        expect(ms).toBeLessThan(15_000); // 2 s, and time for a slow machine
      }
      const outcomes = await deliverUntilAcknowledged(callId);
      expect(outcomes.at(-1)).toBe(commits ? 'duplicate' : 'handled');
      expect(attempts[0]).toBe(1);
      expect(attempts).toHaveLength(commits ? 1 : 2);
      expect(await effectsOf(callId)).toBe(1);
    }
  });
});
