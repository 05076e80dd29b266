import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { memoryDeadLetters } from '@call-webhooks/core';
import { type PostgresClient, postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { type RedisClient, redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { type SqliteDatabase, sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { environmentError } from '../errors.ts';
import type { StoreProblem, StoreReport } from '@call-webhooks/core/stores';
import type { Engine } from './engine.ts';
import { bossQueues, bullQueues, hasKeys, type RedisSend } from './found-queues.ts';
import {
  type ClientPackage,
  CONNECT_WITHIN_MS,
  type Connection,
  firstError,
  onAbort,
  openWithInstalled,
} from './installed-client.ts';
import { openMysql } from './mysql-engine.ts';

const logger = { warn: () => undefined, error: () => undefined };
const ignore = () => undefined;

type RedisConnection = Connection<RedisClient> & {
  /** What one of its servers says about itself. Rejects if this user may not ask. */
  readonly info: () => Promise<string>;
  /** Sends a command to each server: the nodes of a cluster have a part of the keys each. */
  readonly servers: () => readonly RedisSend[];
};

const REDIS: ClientPackage<Promise<RedisConnection>>[] = [
  {
    name: 'ioredis',
    async open({ Redis, Cluster }: typeof import('ioredis'), url, givenUp) {
      const fast = {
        connectTimeout: CONNECT_WITHIN_MS,
        socketTimeout: CONNECT_WITHIN_MS,
        retryStrategy: null,
      };
      const client = new Redis(url, { lazyConnect: true, ...fast });
      const failure = firstError(client);
      onAbort(givenUp, () => client.disconnect());
      // It rejects with "Connection is closed", whatever the cause.
      await client.connect().catch((error: unknown) => Promise.reject(failure() ?? error));
      // A user may be forbidden to ask.
      const whole = await client.info().catch(() => '');
      if (whole.includes('cluster_enabled:1')) {
        const { host, port, username, password, tls } = client.options;
        client.disconnect();
        const nodes = new Cluster([{ host, port }], {
          lazyConnect: true,
          clusterRetryStrategy: () => null,
          redisOptions: { username, password, tls, ...fast },
        });
        nodes.on('error', ignore);
        onAbort(givenUp, () => nodes.disconnect());
        // Of a cluster that is down it ends, and the promise never settles.
        const ended = once(nodes, 'end').then(() => {
          throw new Error('The cluster is down. The Redis command CLUSTER INFO shows details.');
        });
        await Promise.race([nodes.connect(), ended]);
        return {
          client: nodes,
          close: () => nodes.quit(),
          info: () => Promise.resolve(whole),
          servers: () =>
            nodes.nodes('master').map(
              (node): RedisSend =>
                ([name, ...args]) =>
                  node.call(name, ...args),
            ),
        };
      }
      return {
        client,
        close: () => client.quit(),
        info: () => client.info(),
        servers: () => [([name, ...args]) => client.call(name, ...args)],
      };
    },
  },
  {
    name: 'redis',
    async open({ createClient }: typeof import('redis'), url, givenUp) {
      const socket = { connectTimeout: CONNECT_WITHIN_MS, reconnectStrategy: false } as const;
      const client = createClient({ url, socket });
      const failure = firstError(client);
      onAbort(givenUp, () => {
        if (client.isOpen) client.destroy();
      });
      await client.connect().catch((error: unknown) => Promise.reject(failure() ?? error));
      return {
        client,
        close: () => client.close(),
        info: () => client.info(),
        servers: () => [(command) => client.sendCommand([...command])],
      };
    },
  },
];

/** What may lose events, or refuse them. Its memory has to keep what it was given. */
function redisReport(info: string): StoreReport {
  const said = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
  const policy = said('maxmemory_policy') ?? 'noeviction';
  const isCluster = said('cluster_enabled') === '1';
  const problems: StoreProblem[] = [];
  if (said('role') === 'slave')
    problems.push({
      result: 'bad',
      text: 'The server is a replica, so a receiver cannot write to it.',
      fix: 'Use the URL of the primary.',
    });
  if (policy !== 'noeviction')
    problems.push({
      result: said('maxmemory') === '0' ? 'warn' : 'bad',
      text: `maxmemory-policy is ${policy}: when the memory is full, Redis removes webhook ids and events, and events may then run twice.`,
      fix: 'Set maxmemory-policy to noeviction.',
    });
  if (said('aof_enabled') === '0')
    problems.push({
      result: 'warn',
      text: 'appendonly is off, so the latest events are lost when Redis restarts.',
      fix: 'Set appendonly to yes, especially if Redis keeps your dead letters.',
    });
  const version = said('redis_version') ?? '(unknown version)';
  return { server: `Redis ${version}${isCluster ? ', a cluster' : ''}`, problems };
}

const openRedis: Engine = async ({ url, prefix, givenUp }) => {
  const { client, close, servers, info } = await openWithInstalled(REDIS, url, givenUp);
  return {
    store: redisStore(client, { prefix, logger }),
    deadLetters: redisDeadLetters(client, { prefix, logger }),
    inspect: async () => redisReport(await info().catch(() => '')),
    async doubt() {
      const used = prefix ?? 'call-webhooks';
      return (await hasKeys(servers(), `${used}:*`))
        ? undefined
        : `Redis has no key that starts with ${used}: at all. Check the database number and --prefix. If you use the keyPrefix option of ioredis, pass both prefixes, such as --prefix myapp:call-webhooks.`;
    },
    queues: () => bullQueues(servers()),
    close,
  };
};

const POSTGRES: ClientPackage<Promise<Connection<PostgresClient>>>[] = [
  {
    name: 'pg',
    async open({ default: pg }: typeof import('pg'), url) {
      const pool = new pg.Pool({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_WITHIN_MS,
        max: 4,
      });
      pool.on('error', ignore);
      (await pool.connect()).release();
      return { client: pool, close: () => pool.end() };
    },
  },
];

async function postgresReport(client: PostgresClient): Promise<StoreReport> {
  const { rows } = (await client.query(
    "SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') AS read_only",
  )) as { rows: [{ version: string; read_only: string }] };
  const [{ version, read_only: readOnly }] = rows;
  const problem = {
    result: 'bad' as const,
    text: 'The server is a replica or read-only, so a receiver cannot write to it.',
    fix: 'Use the URL of the primary.',
  };
  return { server: `Postgres ${version}`, problems: readOnly === 'on' ? [problem] : [] };
}

const openPostgres: Engine = async ({ url, prefix: schema, givenUp }) => {
  const { client, close } = await openWithInstalled(POSTGRES, url, givenUp);
  const store = postgresStore(client, { schema });
  return {
    store,
    deadLetters: postgresDeadLetters(client, { schema }),
    inspect: () => postgresReport(client),
    queues: () => bossQueues(client),
    async close() {
      await store.close();
      await close();
    },
  };
};

type Handle = SqliteDatabase & { close(): unknown };
type HandleClass = new (file: string, options?: object) => Handle;

/** @param readOnly whether the file may not be changed */
export const sqliteClients = (readOnly: boolean): ClientPackage<Handle>[] => [
  {
    name: 'libsql',
    open: (module: { default: HandleClass }, file) =>
      new module.default(readOnly ? `${pathToFileURL(resolve(file)).href}?mode=ro` : file),
  },
  {
    name: 'better-sqlite3',
    open: (module: { default: HandleClass }, file) =>
      new module.default(file, { readonly: readOnly }),
  },
  {
    name: 'node:sqlite',
    open: (module: { DatabaseSync: HandleClass }, file) =>
      new module.DatabaseSync(file, { readOnly }),
  },
];

const openSqlite: Engine = async ({ url, prefix = 'call_webhooks_', readOnly, givenUp }) => {
  const file = url.slice('sqlite:'.length);
  // A wrong path would make a new, empty file.
  if (!existsSync(file)) throw environmentError(`There is no file ${file}.`, 'Check the path.');
  const handle = await openWithInstalled(sqliteClients(readOnly), file, givenUp);
  const close = () => Promise.resolve(handle.close());
  const db = readOnly ? withoutSetup(handle) : handle;
  try {
    const tables = tablesOf(db, file, prefix);
    // They are created when the first event is given up.
    const isEmpty = readOnly && !tables.includes(`${prefix}dead_letters`);
    return {
      store: sqliteStore(db, { prefix }),
      deadLetters: isEmpty ? memoryDeadLetters() : sqliteDeadLetters(db, { prefix }),
      inspect: () => Promise.resolve(sqliteReport(db)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

function sqliteReport(db: SqliteDatabase): StoreReport {
  const [row] = db.prepare('SELECT sqlite_version() AS version').all() as [{ version: string }];
  return { server: `SQLite ${row.version}`, problems: [] };
}

/** The tables with this prefix. @throws CliError 3 when there are none: it is another file */
function tablesOf(db: SqliteDatabase, file: string, prefix: string): readonly string[] {
  const rows = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const all = rows.map((row) => (row as { name: string }).name);
  const own = all.filter((name) => name.startsWith(prefix));
  if (own.length > 0) return own;
  const other = all.find((name) => name.endsWith('dead_letters'))?.slice(0, -'dead_letters'.length);
  throw environmentError(
    `${file} contains no tables of a receiver: no table name starts with ${prefix}.`,
    other === undefined
      ? 'Check that this is the file that the receiver uses as its store.'
      : `Check the path, or pass --prefix ${other}.`,
  );
}

/**
 * A handle without what sets the file up: that is for the receiver. Its transactions take no lock for
 * writing.
 */
const withoutSetup = (db: SqliteDatabase): SqliteDatabase => ({
  prepare: (sql) => db.prepare(sql),
  exec(sql) {
    if (sql.startsWith('BEGIN')) db.exec('BEGIN');
    else if (sql === 'COMMIT' || sql === 'ROLLBACK') db.exec(sql);
  },
});

/** By the beginning of the URL. */
export const ENGINES: Readonly<Record<string, Engine>> = {
  'redis://': openRedis,
  'rediss://': openRedis,
  'postgres://': openPostgres,
  'postgresql://': openPostgres,
  'mysql://': openMysql,
  'mariadb://': openMysql,
  'sqlite:': openSqlite,
};
