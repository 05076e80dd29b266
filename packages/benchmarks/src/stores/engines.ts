import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@call-webhooks/core';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import { importPackage } from '../checkout.ts';
import { startPostgres, startRedis } from './servers.ts';

/** A database, with our store in it and the least that a delivery can cost there. */
export interface Engine {
  readonly store: Store;
  /** Remembers an event and marks it as done, with two bare statements. Missing where there is no floor. */
  readonly floor?: (id: string) => Promise<unknown>;
  stop(): unknown;
}

const DAY_MS = 86_400_000;

export type EngineName = 'memory' | 'redis' | 'postgres' | 'sqlite';

/** @param root the checkout whose packages are used */
export const ENGINES: Record<EngineName, (root: string) => Promise<Engine>> = {
  async memory(root) {
    const { memoryStore } = await importPackage<typeof import('@call-webhooks/core')>(root, 'core');
    return { store: memoryStore({ onEvicted: () => undefined }), stop: () => undefined };
  },

  /** Two EVALSHA of small scripts, as people write them for locks. */
  async redis(root) {
    const { redisStore } = await importPackage<typeof import('@call-webhooks/redis')>(
      root,
      'redis',
    );
    const server = await startRedis();
    const client = new Redis(server.port, '127.0.0.1');
    const load = (script: string) => client.script('LOAD', script) as Promise<string>;
    const take = await load(
      `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`,
    );
    const finish = await load(`
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2])
      return 1`);
    return {
      store: redisStore(client),
      async floor(id) {
        await client.evalsha(take, 1, `floor:${id}`, 'token', '60000');
        await client.evalsha(finish, 1, `floor:${id}`, 'token', String(DAY_MS));
      },
      async stop() {
        client.disconnect();
        await server.stop();
      },
    };
  },

  /** One INSERT and one UPDATE, prepared, on the pool of the store. */
  async postgres(root) {
    const { postgresStore } = await importPackage<typeof import('@call-webhooks/postgres')>(
      root,
      'postgres',
    );
    const server = await startPostgres();
    const pool = new pg.Pool({ host: '127.0.0.1', port: server.port, user: 'postgres', max: 16 });
    pool.on('error', () => undefined); // the server stops before the last connection has ended
    const store = postgresStore(pool);
    await store.migrate();
    await pool.query('CREATE TABLE floor (id text PRIMARY KEY, done boolean NOT NULL)');
    const insert = { name: 'insert', text: 'INSERT INTO floor VALUES ($1, false)' };
    const update = { name: 'update', text: 'UPDATE floor SET done = true WHERE id = $1' };
    return {
      store,
      async floor(id) {
        await pool.query({ ...insert, values: [id] });
        await pool.query({ ...update, values: [id] });
      },
      async stop() {
        await store.close();
        await pool.end();
        await server.stop();
      },
    };
  },

  /** One INSERT and one UPDATE, prepared, in WAL mode, each on disk when it returns. */
  async sqlite(root) {
    const { sqliteStore } = await importPackage<typeof import('@call-webhooks/sqlite')>(
      root,
      'sqlite',
    );
    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
    const open = (file: string) => new Database(join(folder, file));
    const [db, bare] = [open('store.db'), open('floor.db')];
    bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    bare.exec('CREATE TABLE floor (id TEXT PRIMARY KEY, done INTEGER) WITHOUT ROWID');
    const insert = bare.prepare('INSERT INTO floor VALUES (?, 0)');
    const update = bare.prepare('UPDATE floor SET done = 1 WHERE id = ?');
    return {
      store: sqliteStore(db),
      floor(id) {
        insert.run(id);
        update.run(id);
        return Promise.resolve();
      },
      stop() {
        for (const handle of [db, bare]) handle.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
