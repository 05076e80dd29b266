import { join } from 'node:path';
import type { Store } from '@call-webhooks/core';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { importPackage } from './checkout.ts';
import { collectGarbage } from './load.ts';
import type { StoreName } from './servers.ts';

export const STORES: readonly StoreName[] = ['memory', 'redis', 'postgres', 'mysql', 'sqlite'];

/** A store of ours, and what the questions need of its database. */
export interface Opened {
  readonly store: Store;
  /** The least that a delivery can cost: remembers an event and marks it as done, with two statements. */
  readonly floor: () => Promise<(id: string) => Promise<unknown>>;
  /** Memory or disk that the store takes, with indexes. */
  readonly bytes: () => Promise<number> | number;
  /** Lets its oldest events expire, so that the store sweeps them. From Redis, any are removed. */
  readonly expire: (number: number) => Promise<unknown> | undefined;
  readonly close: () => unknown;
}

/**
 * @param root the checkout whose packages are used
 * @param place where the server is
 * @param size how many events it is going to remember
 */
type Open = (root: string, place: string, size?: number) => Promise<Opened>;

export const OPEN: Record<StoreName, Open> = {
  memory: openMemory,
  redis: openRedis,
  postgres: openPostgres,
  mysql: openMysql,
  sqlite: openSqlite,
};

/** Once it is full, each delivery evicts another. */
async function openMemory(root: string, _place: string, size = 100_000): Promise<Opened> {
  const { memoryStore } = await importPackage(root, 'core');
  return {
    store: memoryStore({ maxEntries: size, onEvicted: () => undefined }),
    floor() {
      throw new Error('Memory has no floor.');
    },
    bytes() {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    },
    expire: () => undefined,
    close: () => undefined,
  };
}

const DAY_MS = 86_400_000;

async function openRedis(root: string, place: string): Promise<Opened> {
  const { redisStore } = await importPackage(root, 'redis');
  const client = new Redis(Number(place), '127.0.0.1');
  client.on('error', () => undefined); // the server may stop first
  const load = (script: string) => client.script('LOAD', script) as Promise<string>;
  return {
    store: redisStore(client),
    /** Two EVALSHA of small scripts, as people write them for locks. */
    async floor() {
      const take = await load(
        `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`,
      );
      const finish = await load(`
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2])
        return 1`);
      return async (id) => {
        await client.evalsha(take, 1, `floor:${id}`, 'token', '60000');
        await client.evalsha(finish, 1, `floor:${id}`, 'token', String(DAY_MS));
      };
    },
    bytes: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]),
    async expire(number) {
      const [, keys] = await client.scan('0', 'COUNT', number);
      if (keys.length > 0) await client.unlink(keys);
    },
    close() {
      client.disconnect();
    },
  };
}

async function openPostgres(root: string, place: string): Promise<Opened> {
  const { postgresStore } = await importPackage(root, 'postgres');
  const pool = new pg.Pool({ host: '127.0.0.1', port: Number(place), user: 'postgres', max: 16 });
  pool.on('error', () => undefined); // the server may stop first
  const store = postgresStore(pool);
  const tables = ['call_webhooks.webhook_ids', 'call_webhooks.events'];
  await store.migrate();
  return {
    store,
    /** One INSERT and one UPDATE, prepared, on the pool of the store. */
    async floor() {
      await pool.query('CREATE TABLE floor (id text PRIMARY KEY, done boolean NOT NULL)');
      const insert = { name: 'insert', text: 'INSERT INTO floor VALUES ($1, false)' };
      const update = { name: 'update', text: 'UPDATE floor SET done = true WHERE id = $1' };
      return async (id) => {
        await pool.query({ ...insert, values: [id] });
        await pool.query({ ...update, values: [id] });
      };
    },
    async bytes() {
      let bytes = 0;
      for (const table of tables) {
        await pool.query(`VACUUM (FULL, ANALYZE) ${table}`);
        const { rows } = await pool.query('SELECT pg_total_relation_size($1) AS bytes', [table]);
        bytes += Number((rows[0] as { bytes: string }).bytes);
      }
      return bytes;
    },
    async expire(number) {
      for (const table of tables)
        await pool.query(
          `UPDATE ${table} SET keep_until = now() WHERE keep_until <= (
             SELECT max(keep_until) FROM (
               SELECT keep_until FROM ${table} ORDER BY keep_until LIMIT $1) AS oldest)`,
          [number],
        );
    },
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

async function openMysql(root: string, place: string): Promise<Opened> {
  const { mysqlStore } = await importPackage(root, 'mysql');
  const uri = `mysql://root@127.0.0.1:${place}/calls`;
  const pool = createPool({ uri, connectionLimit: 16 });
  const store = mysqlStore(pool);
  const tables = ['call_webhooks_webhook_ids', 'call_webhooks_events'];
  await store.migrate();
  return {
    store,
    /** One INSERT and one UPDATE, prepared, on the pool of the store. */
    async floor() {
      await pool.query(
        'CREATE TABLE floor (id VARBINARY(1024) PRIMARY KEY, done BOOLEAN NOT NULL)',
      );
      return async (id) => {
        await pool.execute('INSERT INTO floor VALUES (?, false)', [id]);
        await pool.execute('UPDATE floor SET done = true WHERE id = ?', [id]);
      };
    },
    async bytes() {
      let bytes = 0;
      for (const table of tables) {
        await pool.query(`OPTIMIZE TABLE ${table}`);
        const [rows] = await pool.query(
          'SELECT data_length + index_length AS bytes FROM information_schema.tables WHERE table_name = ?',
          [table],
        );
        bytes += Number((rows as { bytes: number }[])[0]?.bytes);
      }
      return bytes;
    },
    async expire(number) {
      for (const table of tables)
        await pool.query(`UPDATE ${table} SET keep_until = 0 ORDER BY keep_until LIMIT ?`, [
          number,
        ]);
    },
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

async function openSqlite(root: string, place: string): Promise<Opened> {
  const { sqliteStore } = await importPackage(root, 'sqlite');
  const open = (name: string) => new Libsql(join(place, `${name}.db`));
  const db = open('store');
  const handles = [db];
  return {
    store: sqliteStore(db),
    /** One INSERT and one UPDATE, prepared, in WAL mode, each on disk when it returns. */
    floor() {
      const bare = open('floor');
      handles.push(bare);
      bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
      bare.exec('CREATE TABLE floor (id TEXT PRIMARY KEY, done INTEGER) WITHOUT ROWID');
      const insert = bare.prepare('INSERT INTO floor VALUES (?, 0)');
      const update = bare.prepare('UPDATE floor SET done = 1 WHERE id = ?');
      return Promise.resolve((id) => {
        insert.run(id);
        return Promise.resolve(update.run(id));
      });
    },
    bytes() {
      const pages =
        'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size';
      return Promise.resolve((db.prepare(pages).get() as { bytes: number }).bytes);
    },
    expire(number) {
      for (const table of ['call_webhooks_ids', 'call_webhooks_events'])
        db.exec(`UPDATE ${table} SET keep_until = 0 WHERE keep_until <= (
          SELECT max(keep_until) FROM (
            SELECT keep_until FROM ${table} ORDER BY keep_until LIMIT ${String(number)}))`);
      return Promise.resolve();
    },
    close() {
      for (const handle of handles) handle.close();
    },
  };
}
