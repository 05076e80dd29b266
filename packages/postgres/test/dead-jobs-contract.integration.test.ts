import * as runner from '@jest/globals';
import { afterEach, expect, it } from '@jest/globals';
import { queuedCall, unique, waitFor } from '@call-webhooks/contract-tests';
import {
  deadJobsContractTests,
  queueJobsContractTests,
  type OpenedQueue,
} from '@call-webhooks/store-tests';
import { createPgBossWorker, pgBossDeadJobs, pgBossJobs, pgBossQueue } from '../src/index.ts';
import { isPgBoss10 } from './pg-boss-version.ts';
import { openPool, withPostgres } from './support.ts';
import { usePgBoss } from './use-pg-boss.ts';

withPostgres('dead jobs of pg-boss', () => {
  const { test, work, jobs } = usePgBoss();
  const backoff = { initialDelay: 0 };
  const toClose: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0)) await close();
  });

  const subject = {
    name: 'pgBossDeadJobs',
    keepsAttempts: true,
    async open({ maxRuns, concurrency }: { maxRuns: number; concurrency: number }) {
      const name = unique('calls');
      const queue = pgBossQueue(test.boss, { queue: name, maxRuns, backoff });
      await queue.migrate();
      return {
        queue,
        startWorker: (handlers: Parameters<OpenedQueue['startWorker']>[0]) =>
          Promise.resolve(
            createPgBossWorker(test.boss, { ...handlers, queue: name, concurrency, pollEvery: 20 }),
          ),
        jobs: pgBossJobs(test.boss, { queue: name }),
        deadJobs: pgBossDeadJobs(test.boss, { queue: name }),
        others: pgBossDeadJobs(test.boss, { queue: name }),
        deadLetters: async () => (await jobs(`${name}-dead`)).map(({ data }) => data),
        close: () => Promise.resolve(),
      };
    },
  };
  deadJobsContractTests(runner, subject);
  queueJobsContractTests(runner, { ...subject, name: 'pgBossJobs' });

  it('shows a job only once its worker has completed it', async () => {
    const name = unique('calls');
    const queue = pgBossQueue(test.boss, { queue: name, maxRuns: 1, backoff });
    await queue.enqueue(queuedCall(unique('call')));
    work(name, {
      on: {
        'call:completed': () => {
          throw new Error('the CRM is down');
        },
      },
    });
    const deadJobs = pgBossDeadJobs(test.boss, { queue: name });
    await waitFor(async () => (await jobs(name))[0]?.state === 'completed');
    const [letter] = (await deadJobs.list()).letters;
    const update = `UPDATE pgboss.job SET state = $2 WHERE name = $1`;
    await test.boss.getDb().executeSql(update, [name, 'active']);
    expect(await deadJobs.count()).toBe(0);
    expect(await deadJobs.get(letter!.id)).toBeUndefined();
    expect(await deadJobs.requeue(letter!.id)).toBe(false);
    expect(await deadJobs.remove(letter!.id)).toBe(false);
    await test.boss.getDb().executeSql(update, [name, 'completed']);
    expect(await deadJobs.count()).toBe(1);
    expect(await deadJobs.requeue(letter!.id)).toBe(true);
  });

  /** A queue with one dead job, which its worker has completed. */
  async function oneDead() {
    const name = unique('calls');
    const queue = pgBossQueue(test.boss, { queue: name, maxRuns: 1, backoff });
    const delivery = queuedCall(unique('call'));
    await queue.enqueue(delivery);
    const pool = openPool(test.server.url);
    toClose.push(() => pool.end());
    const state = { brokenRuns: 1, commits: false, runs: 0 };
    work(name, {
      on: {
        'call:completed': async (_event, { completeIn }) => {
          state.runs += 1;
          if (state.runs <= state.brokenRuns) throw new Error('the CRM is down');
          if (!state.commits) return;
          const tx = await pool.connect();
          await tx.query('BEGIN');
          await completeIn(tx);
          await tx.query('COMMIT');
          tx.release();
        },
      },
    });
    const isCompleted = () => waitFor(async () => (await jobs(name))[0]?.state === 'completed');
    await isCompleted();
    const deadJobs = pgBossDeadJobs(test.boss, { queue: name });
    const [{ id } = { id: '' }] = (await deadJobs.list()).letters;
    return { name, pool, delivery, state, isCompleted, deadJobs, id };
  }

  it('keeps a dead job whose place is taken while it is requeued', async () => {
    const { name, pool, deadJobs, id } = await oneDead();
    const other = await pool.connect();
    await other.query('BEGIN');
    await other.query(`UPDATE pgboss.job SET state = 'active' WHERE name = $1`, [name]);
    const requeued = deadJobs.requeue(id);
    await waitFor(async () => {
      const { rows } = await pool.query('SELECT FROM pg_locks WHERE NOT granted');
      return rows.length > 0;
    });
    await other.query('COMMIT');
    other.release();
    expect(await requeued).toBe(false);
    expect(await jobs(`${name}-dead`)).toHaveLength(1);
  });

  it.each([true, false])(
    'leaves an event that was handled since (completeIn: %p)',
    async (commits) => {
      const { name, delivery, state, isCompleted, deadJobs, id } = await oneDead();
      // After some hours, pg-boss archives what is completed, and knows no duplicate any more.
      await test.boss.getDb().executeSql('DELETE FROM pgboss.job WHERE name = $1', [name]);
      Object.assign(state, { commits, brokenRuns: 2 });
      await pgBossQueue(test.boss, { queue: name, maxRuns: 3, backoff }).enqueue(delivery);
      await isCompleted();
      expect(state.runs).toBe(3);
      expect(await deadJobs.requeue(id)).toBe(false);
      expect(await deadJobs.count()).toBe(1);
      expect(await jobs(name)).toMatchObject([{ state: 'completed' }]);
    },
  );

  // Version 12 has no archive.
  (isPgBoss10 ? it : it.skip)('lists, erases and forgets what pg-boss has archived', async () => {
    const name = unique('calls');
    const deliveries = [queuedCall(unique('call')), queuedCall(unique('call'))] as const;
    for (const delivery of deliveries)
      await pgBossQueue(test.boss, { queue: name }).enqueue(delivery);
    const ask = (text: string) => test.boss.getDb().executeSql(text, [name]);
    await ask(
      `UPDATE pgboss.job SET state = 'completed', output = '{"error":"of the call"}' WHERE name = $1`,
    );
    await ask(`WITH moved AS (DELETE FROM pgboss.job WHERE name = $1 RETURNING *)
      INSERT INTO pgboss.archive SELECT * FROM moved`);
    const archived = pgBossJobs(test.boss, { queue: name });
    const found = async () => (await archived.list()).jobs;
    const [first, second] = await found();
    expect([first!, second!].map(({ state, delivery }) => [state, delivery.key]).sort()).toEqual(
      deliveries.map(({ key }) => ['done', key]).sort(),
    );
    expect((await archived.list({ limit: 1 })).jobs).toEqual([first]);
    for (const state of ['waiting', 'dead'] as const)
      expect(await archived.erase(first!.id, state)).toBe(false);
    expect(await archived.erase(first!.id, 'done')).toBe(true);
    expect(await archived.erase(first!.id, 'done')).toBe(false);
    expect(await found()).toEqual([second]);
    const rows = `SELECT data, output FROM pgboss.archive WHERE name = $1 ORDER BY output NULLS FIRST`;
    expect((await ask(rows)).rows).toEqual([
      { data: {}, output: null },
      { data: second!.delivery, output: { error: 'of the call' } },
    ]);
    const keys = [...deliveries.map(({ key }) => key!), unique('nobody')];
    expect([await archived.forget(keys), await archived.forget(keys)]).toEqual([2, 0]);
    expect((await ask(rows)).rows).toEqual([]);
  });

  it('refuses a cursor of another list', async () => {
    const deadJobs = pgBossDeadJobs(test.boss);
    await expect(deadJobs.list({ cursor: '1.42' })).rejects.toMatchObject({
      code: 'invalid-cursor',
    });
  });

  it('runs a job whose first life pg-boss has archived or deleted', async () => {
    const name = unique('calls');
    const limits = { retainFor: 5 * 86_400_000, expireIn: 45_000 };
    const queue = pgBossQueue(test.boss, { queue: name, maxRuns: 1, backoff, ...limits });
    /** What pg-boss goes by. */
    async function settings() {
      const text = `SELECT retry_delay, dead_letter, policy, priority, to_jsonb(job) ->> $2 AS expires,
        round(extract(epoch FROM keep_until - created_on))::int AS kept FROM pgboss.job AS job WHERE name = $1`;
      const expires = isPgBoss10 ? 'expire_in' : 'expire_seconds';
      const { rows } = await test.boss.getDb().executeSql(text, [name, expires]);
      return rows as object[];
    }
    await queue.enqueue(queuedCall(unique('call')));
    const attempts: number[] = [];
    work(name, {
      on: {
        'call:completed': (_event, { attempt }) => {
          attempts.push(attempt);
          if (attempt === 1) throw new Error('the CRM is down');
        },
      },
    });
    const deadJobs = pgBossDeadJobs(test.boss, { queue: name });
    await waitFor(async () => (await deadJobs.count()) === 1);
    await waitFor(async () => (await jobs(name))[0]?.state === 'completed');
    const before = await settings();
    expect(before).toMatchObject([{ kept: 5 * 86_400, dead_letter: `${name}-dead` }]);
    await test.boss.getDb().executeSql('DELETE FROM pgboss.job WHERE name = $1', [name]);
    const [letter] = (await deadJobs.list()).letters;
    expect(await deadJobs.requeue(letter!.id)).toBe(true);
    await waitFor(async () => (await jobs(name))[0]?.state === 'completed');
    expect(attempts).toEqual([1, 2]);
    const [job] = await jobs(name);
    expect(job).toMatchObject({ id: letter!.id });
    expect(job!.failure).toBeUndefined();
    expect(await settings()).toEqual(before);
  });
});
