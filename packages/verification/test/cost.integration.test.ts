import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createReceiver, type Queue, type Store } from '@call-webhooks/core';
import { mysqlStore } from '@call-webhooks/mysql';
import { createPgBossWorker, pgBossQueue, postgresStore } from '@call-webhooks/postgres';
import { bullmqQueue, createBullmqWorker, redisStore } from '@call-webhooks/redis';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';
import { callCompleted, deliver, TEST_SECRET } from '@call-webhooks/testing';
import * as bullmq from 'bullmq';
import { Redis } from 'ioredis';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import PgBoss from 'pg-boss';
import {
  type Counter,
  mysqlCounter,
  postgresCounter,
  redisCounter,
  sqliteCounter,
} from '../src/cost/counters.ts';
import { figuresOf } from '../src/cost/page.ts';
import { testResources } from './e2e/test-resources.ts';

// What docs/cost.md says, beside what real servers were asked.

const MANY = 20;
/** Of the size of remembered events, which pages of a database round up. */
const REMEMBERED = 2_000;
const open = testResources();
const logger = collectingLogger();
const on = { 'call:completed': () => undefined };

/** Delivers each event once, one after the other. @returns what one of them cost */
async function costOfEach(
  counter: Counter,
  { store, queue, events }: { store: Store; queue?: Queue; events: readonly object[] },
  outcome: string,
): Promise<number> {
  const receiver = createReceiver({ secret: TEST_SECRET, store, queue, on, logger, log: false });
  await counter.read();
  for (const event of events) expect(await deliver(receiver, event)).toMatchObject({ outcome });
  const cost = (await counter.read()) / events.length;
  await receiver.close();
  return cost;
}

const newEvents = (number = MANY) => Array.from({ length: number }, () => callCompleted());

/** What deliveries cost in a store, as the columns of the page. */
async function costsIn(store: Store, counter: Counter) {
  await costOfEach(counter, { store, events: newEvents(2) }, 'handled'); // scripts are loaded
  const events = newEvents();
  const handled = await costOfEach(counter, { store, events }, 'handled');
  const duplicate = await costOfEach(counter, { store, events }, 'duplicate');
  return { handled, duplicate };
}

/** What a batch of the outcome log costs. */
async function batchIn(store: Store, counter: Counter): Promise<number> {
  let cost = 0;
  for (const _first of [true, false]) {
    const receiver = createReceiver({ secret: TEST_SECRET, store, on, logger });
    await deliver(receiver, callCompleted());
    await counter.read();
    await receiver.close(); // writes what is left
    cost = await counter.read();
  }
  return cost;
}

/** How much a store grows with each event. */
async function bytesPerEvent(store: Store, bytes: () => Promise<number>): Promise<number> {
  const receiver = createReceiver({ secret: TEST_SECRET, store, on, logger, log: false });
  const add = async () => {
    const events = newEvents(REMEMBERED);
    for (let at = 0; at < REMEMBERED; at += 50)
      await Promise.all(events.slice(at, at + 50).map((event) => deliver(receiver, event)));
  };
  await add();
  const before = await bytes();
  await add();
  const after = await bytes();
  await receiver.close();
  return (after - before) / REMEMBERED;
}

/** Queues jobs, and lets a worker run them. */
async function costsOfQueue(
  counter: Counter,
  { store, queue }: { store: Store; queue: Queue },
  startWorker: (handle: () => void) => { close(): Promise<void> },
) {
  await costOfEach(counter, { store, queue, events: newEvents(2) }, 'queued');
  const queued = await costOfEach(counter, { store, queue, events: newEvents() }, 'queued');
  let done = 0;
  await counter.read();
  const worker = startWorker(() => (done += 1));
  await waitFor(() => done === MANY + 2, { what: 'all jobs ran' });
  await worker.close(); // their results are written
  return { queued, job: (await counter.read()) / done };
}

/** A figure of the page that is about right. */
const about = (figure: number) => ({
  asymmetricMatch: (measured: unknown) =>
    typeof measured === 'number' && Math.abs(measured / figure - 1) < 0.35,
  toString: () => `about ${String(figure)}`,
});

async function checkStore(
  title: string,
  store: Store,
  counter: Counter,
  bytes: () => Promise<number>,
) {
  const [handled, duplicate, batch] = await figuresOf('The store', title);
  const [size = 0] = await figuresOf('What is kept', title);
  const measured = {
    ...(await costsIn(store, counter)),
    batch: await batchIn(store, counter),
    bytes: await bytesPerEvent(store, bytes),
  };
  if (process.env['REPORT'] === '1') console.log(title, measured);
  expect(measured).toEqual({ handled, duplicate, batch, bytes: about(size) });
}

async function checkQueue(title: string, measured: { queued: number; job: number }) {
  const [queued, job = 0] = await figuresOf('The queue', title);
  if (process.env['REPORT'] === '1') console.log(title, measured);
  expect(measured).toEqual({ queued, job: about(job) });
}

describeWithProgram('redis-server', 'what Redis is asked', () => {
  it('is what the page says, with BullMQ as well', async () => {
    const server = await redisServer();
    open.add({ close: () => server.stop() });
    await server.start();
    const connection = { host: '127.0.0.1', port: server.port, socketTimeout: 60_000 };
    const client = new Redis(connection);
    open.add({ close: () => client.disconnect() });
    const counter = open.add(await redisCounter(client));
    const store = redisStore(client);
    const bytes = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
    await checkStore('Redis', store, counter, bytes);

    const queue = open.add(new bullmq.Queue('calls', { connection }));
    const subject = { store, queue: bullmqQueue(queue, { logger }) };
    const costs = await costsOfQueue(counter, subject, (handle) =>
      createBullmqWorker({
        ...{ Worker: bullmq.Worker, queueName: 'calls', connection, logger },
        on: { 'call:completed': handle },
      }),
    );
    await checkQueue('BullMQ and `redisStore`', costs);
  }, 60_000);
});

const POSTGRES = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };
describeWithProgram(POSTGRES, 'what Postgres is asked', () => {
  it('is what the page says, with pg-boss as well', async () => {
    const settings = { shared_preload_libraries: 'pg_stat_statements' };
    const server = await startPostgres({ settings });
    open.add({ close: () => server.remove() });
    const pool = new pg.Pool({ connectionString: server.url, max: 5 });
    pool.on('error', () => undefined); // the server may stop first
    open.add({ close: () => pool.end() });
    const store = postgresStore(pool);
    open.add({ close: () => store.close() });
    await store.migrate();
    const counter = open.add(await postgresCounter(pool));
    const bytes = async () => {
      await pool.query('VACUUM FULL call_webhooks.events, call_webhooks.webhook_ids');
      const { rows } = await pool.query<{ bytes: string }>(
        `SELECT sum(pg_total_relation_size(table_name::regclass)) AS bytes
         FROM unnest(ARRAY['call_webhooks.events', 'call_webhooks.webhook_ids']) AS table_name`,
      );
      return Number(rows[0]?.bytes);
    };
    await checkStore('Postgres', store, counter, bytes);

    const passive = { supervise: false, schedule: false };
    const boss = new PgBoss({ connectionString: server.url, ...passive });
    boss.on('error', () => undefined);
    await boss.start();
    open.add({ close: () => boss.stop({ graceful: false, wait: true }) });
    const queue = pgBossQueue(boss, { queue: 'calls' });
    await queue.migrate();
    const costs = await costsOfQueue(counter, { store, queue }, (handle) =>
      createPgBossWorker(boss, { queue: 'calls', logger, on: { 'call:completed': handle } }),
    );
    await checkQueue('pg-boss and `postgresStore`', costs);
  }, 60_000);
});

const MARIADB = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };
describeWithProgram(MARIADB, 'what MariaDB is asked', () => {
  it('is what the page says', async () => {
    const server = await startMysql();
    open.add({ close: () => server.remove() });
    const pool = createPool({ uri: server.url, connectTimeout: 20_000, connectionLimit: 1 });
    open.add({ close: () => pool.end() });
    const store = mysqlStore(pool);
    open.add({ close: () => store.close() });
    await store.migrate();
    const bytes = async () => {
      const tables = ['call_webhooks_events', 'call_webhooks_webhook_ids'];
      await pool.query(`OPTIMIZE TABLE ${tables.join(', ')}`);
      const [rows] = await pool.query(
        `SELECT sum(data_length + index_length) AS bytes FROM information_schema.tables
         WHERE table_name IN (?)`,
        [tables],
      );
      return Number((rows as { bytes: string }[])[0]?.bytes);
    };
    await checkStore('MySQL, MariaDB', store, await mysqlCounter(pool), bytes);
  }, 60_000);
});

it('what SQLite writes is what the page says', async () => {
  const file = join(await open.folder(), 'calls.db');
  const db = new Database(file);
  open.add(db);
  const store = sqliteStore(db);
  const counter = sqliteCounter(file);
  const bytes = () => {
    db.exec('VACUUM');
    const pages = 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size';
    return Promise.resolve((db.prepare(pages).get() as { bytes: number }).bytes);
  };
  await checkStore('SQLite', store, counter, bytes);

  const queue = sqliteQueue(db);
  const costs = await costsOfQueue(counter, { store, queue }, (handle) =>
    createSqliteWorker(queue, { logger, on: { 'call:completed': handle } }),
  );
  await checkQueue('SQLite', costs);
}, 60_000);
