import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createReceiver, generateSecret, sign, type HandlerContext } from '@call-webhooks/core';
import {
  callBody,
  collectingLogger,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import type pg from 'pg';
import { postgresStore } from '../src/index.ts';
import { openPool, withPostgres } from './support.ts';

withPostgres('completeIn when the server or the connection goes away', () => {
  let server: PostgresServer;
  /** Of the store, and of the user. */
  let pools: pg.Pool[];
  let pool: pg.Pool;
  let attempts: number[];
  /** What the handler does in its transaction, after `completeIn` and before COMMIT. */
  let beforeCommit: (client: pg.PoolClient, context: HandlerContext) => unknown;
  let receivers: ReturnType<typeof createReceiver>[];
  const secret = generateSecret();

  beforeAll(async () => {
    server = await startPostgres();
    const setup = openPool(server.url);
    await postgresStore(setup).migrate();
    // The COMMIT of a slow effect takes a second.
    await setup.query(`CREATE TABLE effects (effect text, slow boolean);
      CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.slow) EXECUTE FUNCTION slowly()`);
    await setup.end();
  });
  afterAll(() => server.remove());

  beforeEach(() => {
    attempts = [];
    beforeCommit = () => undefined;
    const ofStore = openPool(server.url);
    pool = openPool(server.url, { query_timeout: 400 });
    pools = [ofStore, pool];
    receivers = [1, 2].map(() =>
      createReceiver({
        secret,
        store: postgresStore(ofStore),
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
    const client = await pool.connect();
    const ignore = () => undefined;
    client.on('error', ignore); // more than one may come
    let failed = true;
    try {
      await client.query('BEGIN');
      await client.query('INSERT INTO effects VALUES ($1, $2)', [callId, callId.includes('slow')]);
      await context.completeIn(client);
      await beforeCommit(client, context);
      await client.query('COMMIT');
      failed = false;
    } finally {
      if (!failed) client.off('error', ignore);
      client.release(failed);
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
    const count = 'SELECT count(*)::int AS count FROM effects WHERE effect = $1';
    const { rows } = await pool.query<{ count: number }>(count, [callId]);
    return rows[0]!.count;
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
    beforeCommit = (client, { attempt }) =>
      attempt === 1 && pools[0]!.query('SELECT pg_terminate_backend($1)', [processId(client)]);
    expect((await deliver('cut')).outcome).toBe('handler-failed');
    expect((await deliver('cut')).outcome).toBe('handled');
    expect(await effectsOf('cut')).toBe(1);
  });
  const processId = (client: pg.PoolClient) =>
    (client as unknown as { processID: number }).processID;

  it('the connection is lost during COMMIT: the claim waits for it, and the event is handled', async () => {
    const { outcome, ms } = await deliver('slow');
    expect(outcome).toBe('handled');
    expect(ms).toBeGreaterThan(700); // though the client gave up after 400 ms
    expect((await deliver('slow')).outcome).toBe('duplicate');
    expect(await effectsOf('slow')).toBe(1);
    expect(attempts).toEqual([1]);
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
