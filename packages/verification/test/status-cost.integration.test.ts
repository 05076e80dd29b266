import { expect, it } from '@jest/globals';
import {
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
} from '@call-webhooks/contract-tests';
import type { Store } from '@call-webhooks/core';
import { mysqlStore } from '@call-webhooks/mysql';
import { postgresStore } from '@call-webhooks/postgres';
import { status } from '@call-webhooks/recovery';
import { redisStore } from '@call-webhooks/redis';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { type Counter, mysqlCounter, postgresCounter, redisCounter } from '../src/cost/counters.ts';
import { fillLog } from '../src/cost/filled-log.ts';
import { figuresOf } from '../src/cost/page.ts';
import { testResources } from './e2e/test-resources.ts';

// What docs/cost.md says of `status()`, beside what real servers were asked.

const open = testResources();

/** A minute may begin in between, and one page more be read. */
const about = (figure: number) => ({
  asymmetricMatch: (measured: unknown) =>
    typeof measured === 'number' && Math.abs(measured - figure) <= 2,
  toString: () => `about ${String(figure)}`,
});

interface Subject {
  readonly store: Store;
  readonly counter: Counter;
}

/** @param openStore opens one that is empty */
async function check(title: string, openStore: (name: string) => Promise<Subject>) {
  const measured: number[] = [];
  for (const failing of [false, true]) {
    const { store, counter } = await openStore(failing ? 'failing' : 'calm');
    await fillLog(store, { failing });
    const { unknown } = await status({ store }); // scripts and schemas are known
    expect(unknown).toBeUndefined();
    await counter.read();
    const startedAt = performance.now();
    await status({ store });
    const tookMs = performance.now() - startedAt;
    measured.push(await counter.read());
    if (process.env['REPORT'] === '1') console.log(title, { failing, measured, tookMs });
  }
  const figures = await figuresOf('The status', title);
  expect(measured).toEqual(figures.slice(0, 2).map(about));
}

describeWithProgram('redis-server', 'what the status asks Redis', () => {
  it('is what the page says', async () => {
    const server = await redisServer();
    open.add({ close: () => server.stop() });
    await server.start();
    const client = new Redis({ host: '127.0.0.1', port: server.port, socketTimeout: 60_000 });
    open.add({ close: () => client.disconnect() });
    const counter = open.add(await redisCounter(client));
    await check('Redis', (name) =>
      Promise.resolve({ store: redisStore(client, { prefix: name }), counter }),
    );
  }, 60_000);
});

const POSTGRES = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };
describeWithProgram(POSTGRES, 'what the status asks Postgres', () => {
  it('is what the page says', async () => {
    const settings = { shared_preload_libraries: 'pg_stat_statements' };
    const server = await startPostgres({ settings });
    open.add({ close: () => server.remove() });
    const pool = new pg.Pool({ connectionString: server.url, max: 5 });
    pool.on('error', () => undefined); // the server may stop first
    open.add({ close: () => pool.end() });
    const counter = open.add(await postgresCounter(pool));
    await check('Postgres', async (schema) => {
      const store = postgresStore(pool, { schema });
      open.add({ close: () => store.close() });
      await store.migrate();
      return { store, counter };
    });
  }, 60_000);
});

const MARIADB = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };
describeWithProgram(MARIADB, 'what the status asks MariaDB', () => {
  it('is what the page says', async () => {
    const server = await startMysql();
    open.add({ close: () => server.remove() });
    const pool = createPool({ uri: server.url, connectTimeout: 20_000, connectionLimit: 5 });
    open.add({ close: () => pool.end() });
    const counter = await mysqlCounter(pool);
    await check('MySQL, MariaDB', async (prefix) => {
      const store = mysqlStore(pool, { prefix });
      open.add({ close: () => store.close() });
      await store.migrate();
      return { store, counter };
    });
  }, 60_000);
});
