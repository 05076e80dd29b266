import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetters, Queue, Store, WorkerOptions } from '@call-webhooks/core';
import type { QueueJobs } from '@call-webhooks/core/stores';
import { mysqlDeadLetters, mysqlStore } from '@call-webhooks/mysql';
import {
  createPgBossWorker,
  pgBossJobs,
  pgBossQueue,
  postgresDeadLetters,
  postgresStore,
} from '@call-webhooks/postgres';
import {
  bullmqJobs,
  bullmqQueue,
  createBullmqWorker,
  redisDeadLetters,
  redisStore,
} from '@call-webhooks/redis';
import {
  createSqliteWorker,
  sqliteDeadLetters,
  sqliteJobs,
  sqliteQueue,
  sqliteStore,
} from '@call-webhooks/sqlite';
import { Queue as BullmqQueue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import PgBoss from 'pg-boss';

export type PlaceName = 'sqlite' | 'redis' | 'postgres' | 'mysql';

/** Everything that a receiver and a worker keep in a server or a file. */
export interface Place {
  store: Store;
  deadLetters: DeadLetters;
  /** Absent: there is no queue in it. */
  queued?: QueuedPlace;
  /** All bytes that are there, after the step that the docs ask for. */
  dump(): Promise<string>;
  close(): Promise<void>;
}

interface QueuedPlace {
  queue: Queue;
  jobs: QueueJobs;
  startWorker(options: Pick<WorkerOptions, 'on' | 'logger'>): { close(): Promise<void> };
}

const logger = { warn: () => undefined, error: () => undefined };

export const PLACES: Record<PlaceName, (url: string) => Promise<Place>> = {
  async sqlite(file) {
    const db = new Database(file);
    const queue = sqliteQueue(db);
    return {
      ...{ store: sqliteStore(db), deadLetters: sqliteDeadLetters(db) },
      queued: {
        ...{ queue, jobs: sqliteJobs(queue) },
        startWorker: (options) =>
          createSqliteWorker(queue, { maxRuns: 1, pollEvery: 5, ...options }),
      },
      dump() {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        db.exec('VACUUM');
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        const files = [file, `${file}-wal`].filter((name) => existsSync(name));
        return Promise.resolve(files.map((name) => readFileSync(name, 'latin1')).join('\n'));
      },
      close: () => Promise.resolve(void db.close()),
    };
  },

  async redis(url) {
    const redis = new Redis(url, { socketTimeout: 60_000 });
    const { hostname: host, port } = new URL(url);
    const connection = { host, port: Number(port), socketTimeout: 60_000 };
    const bullmq = new BullmqQueue('calls', { connection });
    return {
      ...{ store: redisStore(redis, { logger }), deadLetters: redisDeadLetters(redis, { logger }) },
      queued: {
        queue: bullmqQueue(bullmq, { maxRuns: 1, logger }),
        jobs: bullmqJobs(bullmq),
        startWorker: (options) =>
          createBullmqWorker({ Worker, queueName: 'calls', connection, ...options }),
      },
      dump: () => dumpRedis(redis),
      async close() {
        await bullmq.close();
        await redis.quit();
      },
    };
  },

  async postgres(url) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined);
    const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    await boss.start();
    const store = postgresStore(pool);
    await store.migrate();
    const queue = pgBossQueue(boss, { maxRuns: 1 });
    await queue.migrate();
    return {
      ...{ store, deadLetters: postgresDeadLetters(pool) },
      queued: {
        ...{ queue, jobs: pgBossJobs(boss) },
        startWorker: (options) => createPgBossWorker(boss, { pollEvery: 5, ...options }),
      },
      async dump() {
        // Of tests alone: a process that erases can't load it.
        const { postgresBinaries } = await import('@call-webhooks/contract-tests');
        const program = join(postgresBinaries() ?? '', 'pg_dump');
        return execFileSync(program, ['--dbname', url], { encoding: 'utf8', maxBuffer: 2 ** 28 });
      },
      async close() {
        await boss.stop({ graceful: false, wait: true });
        await store.close();
        await pool.end();
      },
    };
  },

  async mysql(uri) {
    const pool = createPool(uri);
    const [store, deadLetters] = [mysqlStore(pool), mysqlDeadLetters(pool)];
    await store.migrate();
    return {
      ...{ store, deadLetters },
      async dump() {
        const connection = await pool.getConnection();
        const run = async (sql: string) =>
          (await connection.query({ sql, rowsAsArray: true }))[0] as unknown as (
            Buffer | string | number | null
          )[][];
        const tables = (await run('SHOW TABLES')).map(([name]) => name as string);
        const all = tables.join(', ');
        await run(`OPTIMIZE TABLE ${all}`);
        const texts: string[] = [];
        for (const table of tables)
          for (const row of await run(`SELECT * FROM ${table}`))
            texts.push(
              ...row.map((value) =>
                Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
              ),
            );
        // The files as well, with all pages written.
        await run(`FLUSH TABLES ${all} FOR EXPORT`);
        const [[folder] = []] = await run('SELECT CONCAT(@@datadir, DATABASE())');
        const files = tables.map((table) => join(folder as string, `${table}.ibd`));
        const bytes = files.map((file) => readFileSync(file, 'latin1'));
        await run('UNLOCK TABLES');
        connection.release();
        return [...texts, ...bytes].join('\n');
      },
      async close() {
        await store.close();
        await pool.end();
      },
    };
  },
};

/** All keys of a server, with all that is in them. */
async function dumpRedis(redis: Redis): Promise<string> {
  const read: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    list: (key) => redis.lrange(key, 0, -1),
    hash: (key) => redis.hgetall(key),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.call('ZRANGE', key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const lines: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
    for (const key of keys) {
      const type = await redis.type(key);
      if (type !== 'none') lines.push(`${key} ${JSON.stringify(await read[type]!(key))}`);
    }
    cursor = next;
  } while (cursor !== '0');
  return lines.join('\n');
}
