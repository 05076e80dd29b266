import { existsSync } from 'node:fs';
import type { DeadLetters, Store } from '@call-webhooks/core';
import { postgresDeadLetters, postgresStore, type PostgresClient } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore, type RedisClient } from '@call-webhooks/redis';
import { sqliteDeadLetters, sqliteStore, type SqliteDatabase } from '@call-webhooks/sqlite';
import { environmentError } from '../errors.ts';
import { openWithInstalled, type ClientPackage } from './load-client.ts';

/** The events and dead letters of a receiver. */
export interface OpenedStore {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}

type Opened = OpenedStore & { close(): Promise<void> };
/** Opens a URL. */
type Engine = (url: string, prefix: string | undefined) => Promise<Opened>;

const logger = { warn: () => undefined, error: () => undefined };
const ignore = () => undefined;

interface Connection<Client> {
  readonly client: Client;
  readonly close: () => Promise<unknown>;
}

const REDIS: ClientPackage<Promise<Connection<RedisClient>>>[] = [
  {
    name: 'ioredis',
    async open({ Redis }: typeof import('ioredis'), url) {
      const client = new Redis(url, {
        lazyConnect: true,
        connectTimeout: 5_000,
        retryStrategy: null,
      });
      client.on('error', ignore);
      await client.connect();
      return { client, close: () => client.quit() };
    },
  },
  {
    name: 'redis',
    async open({ createClient }: typeof import('redis'), url) {
      const socket = { connectTimeout: 5_000, reconnectStrategy: false } as const;
      const client = createClient({ url, socket });
      client.on('error', ignore);
      await client.connect();
      return { client, close: () => client.close() };
    },
  },
];

const openRedis: Engine = async (url, prefix) => {
  const { client, close } = await openWithInstalled(REDIS, url);
  return {
    store: redisStore(client, { prefix, logger }),
    deadLetters: redisDeadLetters(client, { prefix, logger }),
    async close() {
      await close();
    },
  };
};

const POSTGRES: ClientPackage<Connection<PostgresClient>>[] = [
  {
    name: 'pg',
    open({ default: pg }: typeof import('pg'), url) {
      const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5_000, max: 4 });
      pool.on('error', ignore);
      return { client: pool, close: () => pool.end() };
    },
  },
];

const openPostgres: Engine = async (url, schema) => {
  const { client, close } = await openWithInstalled(POSTGRES, url);
  const store = postgresStore(client, { schema });
  return {
    store,
    deadLetters: postgresDeadLetters(client, { schema }),
    async close() {
      await store.close();
      await close();
    },
  };
};

type Handle = SqliteDatabase & { close(): unknown };
type HandleClass = new (file: string) => Handle;

const SQLITE: ClientPackage<Handle>[] = [
  { name: 'libsql', open: (module: { default: HandleClass }, file) => new module.default(file) },
  {
    name: 'better-sqlite3',
    open: (module: { default: HandleClass }, file) => new module.default(file),
  },
  {
    name: 'node:sqlite',
    open: (module: { DatabaseSync: HandleClass }, file) => new module.DatabaseSync(file),
  },
];

const openSqlite: Engine = async (url, prefix) => {
  const file = url.slice('sqlite:'.length);
  // A wrong path would make a new, empty file.
  if (!existsSync(file)) throw environmentError(`There is no file ${file}.`, 'Check the path.');
  const db = await openWithInstalled(SQLITE, file);
  return {
    store: sqliteStore(db, { prefix }),
    deadLetters: sqliteDeadLetters(db, { prefix }),
    close: () => Promise.resolve(db.close()).then(ignore),
  };
};

/** By the beginning of the URL. */
export const ENGINES: Readonly<Record<string, Engine>> = {
  'redis://': openRedis,
  'rediss://': openRedis,
  'postgres://': openPostgres,
  'postgresql://': openPostgres,
  'sqlite:': openSqlite,
};
