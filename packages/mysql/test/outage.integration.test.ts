import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import {
  callBody,
  collectingLogger,
  serveLocally,
  startMysql,
  startSender,
  type MysqlServer,
} from '@call-webhooks/contract-tests';
import type { Pool } from 'mysql2/promise';
import { mysqlStore } from '../src/index.ts';
import { openPool, withOwnMysql } from './support.ts';

const TABLE_FULL = 1114;

withOwnMysql('a receiver whose MySQL goes away', () => {
  let server: MysqlServer;
  let pool: Pool;
  let runs: string[];
  let deliver: (callId: string) => Promise<{ outcome: string | undefined; ms: number }>;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    server = await startMysql();
    const setup = openPool(server.url);
    await mysqlStore(setup).migrate();
    await setup.end();
  });
  afterAll(() => server.remove());

  beforeEach(() => mount(openPool(server.url)));
  afterEach(() => stop());

  async function mount(through: Pool): Promise<void> {
    runs = [];
    pool = through;
    const secret = generateSecret();
    const store = mysqlStore(pool, { logger: collectingLogger() });
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

  it('answers 503 when it is frozen, and works when it goes on', async () => {
    expect((await deliver('freeze-0')).outcome).toBe('handled');
    server.freeze();
    const away = Array.from({ length: 15 }, (_, index) => `freeze-${String(index + 1)}`);
    await expectAway(away);
    server.thaw();
    await expectBack(away);
  });

  it('closes connections on which no answer comes', async () => {
    const few = openPool(server.url, { connectionLimit: 2 });
    const store = mysqlStore(few, { logger: collectingLogger() });
    await Promise.all([store.ping(), store.ping()]);
    server.freeze();
    const lost = Promise.allSettled([store.ping(), store.ping()]);
    expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    server.thaw();
    await store.ping();
    await few.end();
  });

  // On a disk that is really full, MariaDB may end itself: then it is down, as above.
  it('answers 503 while its tablespace is full, loses nothing, and works when there is room', async () => {
    await stop();
    const full = await startMysql({
      settings: {
        'innodb-file-per-table': '0',
        'innodb-data-file-path': 'ibdata1:12M:autoextend:max:20M',
        'innodb-autoextend-increment': '1',
      },
    });
    await mount(openPool(full.url));
    const admin = openPool(full.url);
    await mysqlStore(admin).migrate();
    expect((await deliver('disk-0')).outcome).toBe('handled');
    await admin.query('CREATE TABLE filler (text LONGTEXT)');
    const fill = async (size: number) => {
      for (;;) await admin.query(`INSERT INTO filler VALUES (REPEAT('x', ${String(size)}))`);
    };
    for (const size of [200_000, 5_000, 100])
      await expect(fill(size)).rejects.toMatchObject({ errno: TABLE_FULL });
    // What still fits on the pages that there are is handled; then nothing is.
    const handled = ['disk-0'];
    for (let number = 1; ; number++) {
      const callId = `disk-${String(number)}`;
      if ((await deliver(callId)).outcome !== 'handled') break;
      handled.push(callId);
    }
    await expectAway(['full-1']);
    await full.kill();
    await full.start({ 'innodb-data-file-path': 'ibdata1:12M:autoextend:max:64M' });
    await expectBack(['full-1']);
    for (const callId of handled) expect((await deliver(callId)).outcome).toBe('duplicate');
    await admin.end();
    await stop();
    await full.remove();
    await mount(openPool(server.url)); // for the hook that stops it
  }, 120_000);
});
