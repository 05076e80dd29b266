import type { DeadLetters, Store } from '@call-webhooks/core';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';

export type EngineName = 'redis' | 'postgres' | 'sqlite';

export interface Engine {
  store: Store;
  deadLetters: DeadLetters;
  close(): Promise<void>;
}

const logger = { warn: () => undefined, error: () => undefined };

/** Opens the events and dead letters of a server or file. */
export async function openEngine(name: EngineName, url: string): Promise<Engine> {
  if (name === 'redis') {
    const redis = new Redis(url, { socketTimeout: 60_000 });
    return {
      ...{ store: redisStore(redis), deadLetters: redisDeadLetters(redis, { logger }) },
      async close() {
        await redis.quit();
      },
    };
  }
  if (name === 'postgres') {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined);
    const store = postgresStore(pool);
    await store.migrate();
    return {
      ...{ store, deadLetters: postgresDeadLetters(pool) },
      async close() {
        await store.close();
        await pool.end();
      },
    };
  }
  const db = new Database(url);
  const close = () => {
    db.close();
    return Promise.resolve();
  };
  return { store: sqliteStore(db), deadLetters: sqliteDeadLetters(db), close };
}
