import {
  createPgBossWorker,
  pgBossDeadJobs,
  pgBossQueue,
  postgresStore,
} from '@call-webhooks/postgres';
import pg from 'pg';
import PgBoss from 'pg-boss';
import type { Effect, EffectTable } from '../effects.ts';
import { CONCURRENCY, QUEUE_ATTEMPTS, retryUntilSuccess, type Engine } from './engine.ts';

/** pg-boss counts in seconds and does not renew its leases: longer than the slowest handler. */
const EXPIRE_SECONDS = 3;
const EXPIRE_EVERY_MS = 500;
const nothing = () => undefined;

export const postgres: Engine = {
  async store(url) {
    const pool = new pg.Pool({
      connectionString: url,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    });
    pool.on('error', nothing);
    const store = postgresStore(pool);
    await retryUntilSuccess(() => store.migrate());
    return store;
  },
  async queue(url) {
    const queue = queueOf(await bossOf(url));
    await retryUntilSuccess(() => queue.migrate());
    return queue;
  },
  async deadJobs(url) {
    return pgBossDeadJobs(await bossOf(url));
  },
  async startWorker(url, handlers) {
    const boss = await bossOf(url);
    await retryUntilSuccess(() => queueOf(boss).migrate());
    createPgBossWorker(boss, { ...handlers, concurrency: CONCURRENCY, pollEvery: 100 });
    // pg-boss does this by itself every few minutes only.
    setInterval(() => void boss.expire().catch(nothing), EXPIRE_EVERY_MS);
  },
  state(url) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', nothing);
    const rows = async (sql: string, ...values: unknown[]) =>
      (await pool.query<{ row: unknown }>(sql, values)).rows.map(({ row }) => row);
    return Promise.resolve({
      stats: () =>
        rows(
          `SELECT json_build_object('queue', name, 'state', state, 'jobs', count(*)) AS row
           FROM pgboss.job GROUP BY name, state`,
        ),
      rows: async (key) => [
        ...(await rows(
          `SELECT to_jsonb(job) - 'data' AS row FROM pgboss.job WHERE data ->> 'key' = $1`,
          key,
        ).catch(() => [])), // pg-boss is not there without a queue
        ...(await rows(
          'SELECT to_jsonb(event) AS row FROM call_webhooks.events event WHERE key = $1',
          key,
        )),
      ],
    });
  },
  effects: postgresEffects,
};

const queueOf = (boss: PgBoss) =>
  pgBossQueue(boss, {
    maxRuns: QUEUE_ATTEMPTS,
    backoff: { initialDelay: 0 },
    expireIn: EXPIRE_SECONDS * 1_000,
  });

function bossOf(url: string): Promise<PgBoss> {
  return retryUntilSuccess(async () => {
    const boss = new PgBoss({
      connectionString: url,
      supervise: false,
      schedule: false,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    } as PgBoss.ConstructorOptions);
    boss.on('error', nothing);
    return boss.start();
  });
}

/** Transactions of a client of its own, as users have one. */
async function postgresEffects(url: string): Promise<EffectTable> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 40,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_500,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  await retryUntilSuccess(() =>
    pool.query(
      'CREATE TABLE IF NOT EXISTS effects (key text, attempt integer, pid integer, at float8)',
    ),
  );
  return {
    async transact({ key, attempt, pid, at }, before) {
      const client = await pool.connect();
      let failed = true;
      try {
        await client.query('BEGIN');
        const values = [key, attempt, pid, at];
        await client.query('INSERT INTO effects VALUES ($1, $2, $3, $4)', values);
        await before(client);
        await client.query('COMMIT');
        failed = false;
      } finally {
        client.release(failed); // without its connection, a transaction is rolled back
      }
    },
    read: async () => (await pool.query<Effect>('SELECT key, attempt, pid, at FROM effects')).rows,
  };
}
