import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import {
  callBody,
  collectingLogger,
  serveLocally,
  startPostgres,
  startSender,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import type pg from 'pg';
import { postgresStore } from '../src/index.ts';
import { smallDisk } from './small-disk.ts';
import { openPool, withPostgres } from './support.ts';

withPostgres('a receiver whose Postgres goes away', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let runs: string[];
  let deliver: (callId: string) => Promise<{ outcome: string | undefined; ms: number }>;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    server = await startPostgres();
    const setup = openPool(server.url);
    await postgresStore(setup).migrate();
    await setup.end();
  });
  afterAll(() => server.remove());

  beforeEach(() => mount(openPool(server.url)));
  afterEach(() => stop());

  async function mount(through: pg.Pool): Promise<void> {
    runs = [];
    pool = through;
    const secret = generateSecret();
    const store = postgresStore(pool);
    const hook = createNodeHandler({
      secret,
      store,
      leaseFor: 700,
      logger: collectingLogger(),
      on: {
        'call:completed': ({ callId }, { attempt }) => {
          runs.push(`${callId ?? ''} ${String(attempt)}`);
        },
      },
    });
    const http = await serveLocally((request, response) => void hook(request, response));
    const sender = startSender(http.origin, secret);
    deliver = async (callId) => {
      const from = performance.now();
      const { outcome } = await sender.post(callBody(callId));
      return { outcome, ms: performance.now() - from };
    };
    stop = async () => {
      await hook.receiver.close();
      await http.close();
      await store.close();
      await pool.end();
    };
  }

  async function expectAway(callIds: string[]): Promise<void> {
    const answers = await Promise.all(callIds.map(deliver));
    for (const { outcome, ms } of answers) {
      expect(outcome).toBe('store-unavailable');
      expect(ms).toBeLessThan(15_000); // 2 s, and time for a slow machine
    }
    expect(runs.filter((run) => callIds.some((id) => run.startsWith(`${id} `)))).toEqual([]);
  }

  /** A busy server may commit an event, and answer too late. */
  const isDone = (outcome: string | undefined) => outcome === 'handled' || outcome === 'duplicate';

  /** Delivers until it is taken: a claim of the outage that was applied late has its lease. */
  async function expectBack(callIds: string[]): Promise<void> {
    const until = performance.now() + 30_000;
    for (const callId of callIds) {
      let outcome;
      while (!isDone((outcome = (await deliver(callId)).outcome))) {
        expect(['store-unavailable', 'in-progress']).toContain(outcome);
        expect(performance.now()).toBeLessThan(until);
        await delay(100);
      }
      expect((await deliver(callId)).outcome).toBe('duplicate');
      expect(runs.filter((run) => run.startsWith(`${callId} `))).not.toEqual([]);
    }
    expect(new Set(runs).size).toBe(runs.length); // no attempt ran twice
  }

  it('answers 503 while it is down at the start, and works when it comes', async () => {
    await server.kill();
    await expectAway(['start-1', 'start-2']);
    await server.start();
    await expectBack(['start-1', 'start-2']);
  });

  it('answers 503 when it is killed, and works when it is back', async () => {
    expect((await deliver('kill-0')).outcome).toBe('handled');
    await server.kill();
    await expectAway(['kill-1', 'kill-2']);
    await server.start();
    await expectBack(['kill-1', 'kill-2']);
    expect((await deliver('kill-0')).outcome).toBe('duplicate');
  });

  it('answers 503 while it is read-only, as after a failover to a replica', async () => {
    const admin = openPool(server.url, { max: 1 });
    const readOnly = async (value: string) => {
      await admin.query(`SET default_transaction_read_only = off`);
      await admin.query(`ALTER DATABASE postgres SET default_transaction_read_only = ${value}`);
    };
    await readOnly('on');
    await expectAway(['read-1']);
    await readOnly('off');
    await pool.query('SET default_transaction_read_only = off'); // its one connection
    await expectBack(['read-1']);
    await admin.end();
  });

  const disk = smallDisk(1_500, process.getuid?.() === 0 ? 'postgres' : String(process.getuid?.()));
  afterAll(() => disk?.remove()); // after the server: this is the later one of the two
  if (!disk)
    process.stderr.write(
      '\n!!! SKIPPED: Postgres on a full disk: this user may not mount a tmpfs.\n\n',
    );

  (disk ? it : it.skip)(
    'answers 503 while its disk is full, loses nothing, and works when there is room',
    async () => {
      const admin = openPool(server.url, { max: 1 });
      await admin.query(`CREATE TABLESPACE small LOCATION '${String(disk?.path)}'`);
      for (const table of ['webhook_ids', 'events'])
        await admin.query(`ALTER TABLE call_webhooks.${table} SET TABLESPACE small`);
      await admin.query('ALTER INDEX call_webhooks.events_pkey SET TABLESPACE small');
      expect((await deliver('disk-0')).outcome).toBe('handled');
      await admin.query('CREATE TABLE filler (text text) TABLESPACE small');
      const fill = () =>
        admin.query("INSERT INTO filler SELECT repeat('x', 2000) FROM generate_series(1, 50)");
      await expect(
        (async () => {
          for (;;) await fill();
        })(),
      ).rejects.toMatchObject({ code: '53100' });

      // What still fits on the pages that there are is handled; then nothing is.
      const handled = ['disk-0'];
      for (let number = 1; ; number++) {
        const callId = `disk-${String(number)}`;
        const { outcome, ms } = await deliver(callId);
        expect(ms).toBeLessThan(15_000); // 2 s, and time for a slow machine
        if (outcome !== 'handled') break;
        handled.push(callId);
      }
      await expectAway(['full-1', 'full-2']);
      await admin.query('DROP TABLE filler');
      await expectBack(['full-1', 'full-2']);
      for (const callId of handled) expect((await deliver(callId)).outcome).toBe('duplicate');
      for (const table of ['webhook_ids', 'events'])
        await admin.query(`ALTER TABLE call_webhooks.${table} SET TABLESPACE pg_default`);
      await admin.end();
    },
    120_000,
  );

  it.each([
    { limits: 'with time limits', options: {} },
    { limits: 'without any', options: { connectionTimeoutMillis: 0, query_timeout: 0 } },
  ])('answers 503 when it is frozen, and works when it goes on: a pool $limits', async (pools) => {
    await stop();
    await mount(openPool(server.url, pools.options));
    const named = (number: number) => `freeze ${pools.limits} ${String(number)}`;
    expect((await deliver(named(0))).outcome).toBe('handled');
    server.freeze();
    const away = Array.from({ length: 15 }, (_, index) => named(index + 1));
    await expectAway(away);
    server.thaw();
    await expectBack(away);
  });
});
