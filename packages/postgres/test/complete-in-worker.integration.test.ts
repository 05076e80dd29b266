import * as runner from '@jest/globals';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { QueuedDelivery } from '@call-webhooks/core';
import {
  collectingLogger,
  deferred,
  queuedCall,
  startPostgres,
  waitFor,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { completeJobContractTests, type WorkerHandlers } from '@call-webhooks/store-tests';
import { expireJobs, PASSIVE, PgBoss } from './pg-boss-version.ts';
import { createPgBossWorker, pgBossQueue } from '../src/index.ts';
import { CLIENTS } from './effects.ts';
import type { QueryConfig } from 'pg';
import { freshSchema, openPool, withPostgres } from './support.ts';

withPostgres('completeIn in a worker of pg-boss', () => {
  let server: PostgresServer;
  let boss: PgBoss;
  const bossSchema = 'jobs_of_calls';
  beforeAll(async () => {
    server = await startPostgres();
    boss = new PgBoss({
      connectionString: server.url,
      schema: bossSchema,
      ...PASSIVE,
    });
    boss.on('error', () => undefined);
    await boss.start();
  });
  afterAll(async () => {
    await boss.stop({ graceful: false, wait: true });
    await server.remove();
  });

  const toClose: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });

  /** A table of effects, and transactions of a client of its own. */
  async function openEffects() {
    const schema = freshSchema();
    const pool = openPool(server.url);
    await pool.query(
      `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.effects (number serial, effect text)`,
    );
    const transactions = CLIENTS['pg']!(server.url, schema);
    return {
      client: transactions.client,
      transact: transactions.transact,
      async committed(effect: string) {
        const count = `SELECT count(*)::int AS count FROM ${schema}.effects WHERE effect = $1`;
        const { rows } = await pool.query<{ count: number }>(count, [effect]);
        return rows[0]!.count;
      },
      async close() {
        await transactions.close();
        await pool.end();
      },
    };
  }

  const work = (queue: string, handlers: WorkerHandlers, concurrency = 4) =>
    createPgBossWorker(boss, {
      ...{ logger: collectingLogger(), ...handlers },
      ...{ queue, schema: bossSchema, pollEvery: 20, concurrency },
    });

  let queues = 0;
  completeJobContractTests(runner, {
    name: 'pgBossQueue',
    async open({ maxRuns, concurrency }) {
      const name = `calls-${String(++queues)}`;
      const queue = pgBossQueue(boss, { queue: name, maxRuns, backoff: { initialDelay: 0 } });
      await queue.migrate();
      return {
        ...(await openEffects()),
        queue,
        startWorker: (handlers) => Promise.resolve(work(name, handlers, concurrency)),
        async deadLetters() {
          const { rows } = await boss
            .getDb()
            .executeSql(`SELECT data FROM ${bossSchema}.job WHERE name = $1`, [`${name}-dead`]);
          return (rows as { data: QueuedDelivery }[]).map(({ data }) => data);
        },
      };
    },
  });

  it('fences a run whose job expired: the run after it has the only effect', async () => {
    const { transact, committed, close } = await openEffects();
    toClose.push(close);
    const queue = pgBossQueue(boss, {
      queue: 'lost',
      expireIn: 1_000,
      backoff: { initialDelay: 0 },
    });
    await queue.enqueue(queuedCall('call-1'));
    const go = deferred();
    const ends: string[] = [];
    const worker = work('lost', {
      on: {
        'call:completed': async (_event, { attempt, completeIn }) => {
          if (attempt === 1) await go.promise;
          await transact(async ({ tx, write }) => {
            await write('call-1');
            await completeIn(tx);
          }).then(
            () => ends.push(`committed ${String(attempt)}`),
            (error: unknown) => ends.push(`${String(attempt)}: ${String(error)}`),
          );
        },
      },
    });
    toClose.push(() => worker.close({ graceMs: 0 }));
    await waitFor(async () => {
      await expireJobs(boss);
      return ends.length === 1;
    });
    go.resolve();
    await waitFor(() => ends.length === 2);
    expect(ends).toEqual(['committed 2', expect.stringContaining('1: WebhookError: completeIn')]);
    expect(await committed('call-1')).toBe(1);
    await worker.close();
    expect(await boss.getJobById('lost', (await jobs('lost'))[0]!)).toMatchObject({
      state: 'completed',
      retryCount: 1,
    });
  });

  async function jobs(name: string): Promise<string[]> {
    const { rows } = await boss
      .getDb()
      .executeSql(`SELECT id FROM ${bossSchema}.job WHERE name = $1`, [name]);
    return (rows as { id: string }[]).map(({ id }) => id);
  }

  it('waits for a COMMIT whose connection was lost, and takes the job for done', async () => {
    const { committed, close } = await openEffects();
    toClose.push(close);
    const pool = openPool(server.url);
    toClose.push(() => pool.end());
    await pool.query(`CREATE TABLE slow (effect text);
      CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slowly()`);
    const queue = pgBossQueue(boss, { queue: 'commit', maxRuns: 1 });
    await queue.enqueue(queuedCall('call-1'));
    const letters: unknown[] = [];
    const errors: unknown[] = [];
    const worker = work('commit', {
      deadLetter: (letter) => void letters.push(letter),
      on: {
        'call:completed': async (_event, { completeIn }) => {
          const client = await pool.connect();
          try {
            await client.query('BEGIN');
            await client.query("INSERT INTO slow VALUES ('call-1')");
            await completeIn(client);
            // It takes a second, but the client gives up before.
            const commit: object = { text: 'COMMIT', query_timeout: 300 };
            await client.query(commit as QueryConfig);
          } catch (error) {
            errors.push(error);
            throw error;
          } finally {
            client.release(true);
          }
        },
      },
    });
    toClose.push(() => worker.close({ graceMs: 0 }));
    const [id = ''] = await jobs('commit');
    await waitFor(async () => {
      const job = (await boss.getJobById('commit', id)) as { state: string };
      return job.state === 'completed';
    });
    await worker.close();
    expect(String(errors)).toContain('timeout');
    expect(letters).toEqual([]);
    expect(await jobs('commit-dead')).toEqual([]);
    expect((await pool.query('SELECT effect FROM slow')).rows).toHaveLength(1);
    expect(await committed('call-1')).toBe(0);
  });
});
