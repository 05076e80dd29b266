import { expect, it } from '@jest/globals';
import { queuedCall, unique, waitFor } from '@call-webhooks/contract-tests';
import { Client } from 'pg';
import { pgBossDeadJobs, pgBossQueue } from '../src/index.ts';
import { isPgBoss10, maintain } from './pg-boss-version.ts';
import { withPostgres } from './support.ts';
import { usePgBoss } from './use-pg-boss.ts';

/** All options of a queue that delete jobs, end them early, or run them otherwise than they are sent. */
const MEAN = {
  ...{ retryLimit: 0, retryDelay: 7_200, retryBackoff: true, expireInSeconds: 1 },
  ...(isPgBoss10 ? { retentionMinutes: 1 } : { retentionSeconds: 1, deleteAfterSeconds: 1 }),
};

withPostgres('dead jobs of pg-boss, whatever the defaults of their queues say', () => {
  const { test, work, jobs } = usePgBoss({
    maintenanceIntervalSeconds: 1,
    ...(isPgBoss10 && {
      ...{ archiveCompletedAfterSeconds: 1, archiveFailedAfterSeconds: 1, deleteAfterSeconds: 1 },
      ...{ retentionSeconds: 1, expireInSeconds: 1, retryLimit: 0 },
    }),
  });

  /** Makes every job of pg-boss so much older. */
  async function age(years: number) {
    const older = ['created_on', 'start_after', 'started_on', 'completed_on', 'keep_until'].map(
      (column) => `${column} = ${column} - interval '${String(years)} years'`,
    );
    await test.boss.getDb().executeSql(`UPDATE pgboss.job SET ${older.join(', ')}`, []);
  }

  it('stay until their user runs them again or removes them', async () => {
    const name = unique('calls');
    await test.boss.createQueue(`${name}-dead`, { name: `${name}-dead`, ...MEAN });
    await test.boss.createQueue(name, { name, deadLetter: `${name}-dead`, ...MEAN });
    const queue = pgBossQueue(test.boss, { queue: name, maxRuns: 3, backoff: { initialDelay: 0 } });
    let broken = true;
    const attempts: number[] = [];
    work(name, {
      on: {
        'call:completed': (_event, { attempt }) => {
          attempts.push(attempt);
          if (broken) throw new Error('the CRM is down');
        },
      },
    });
    const delivery = queuedCall(unique('call'));
    await queue.enqueue(delivery);
    await queue.enqueue(queuedCall(unique('call')));
    const deadJobs = pgBossDeadJobs(test.boss, { queue: name });
    await waitFor(async () => (await deadJobs.count()) === 2);
    expect(attempts.toSorted()).toEqual([1, 1, 2, 2, 3, 3]); // not one run each, and no hours between
    await age(50);
    // What pg-boss deletes by now is gone: the first lives of both.
    await waitFor(async () => {
      await maintain(test.boss);
      return (await jobs(name)).length === 0;
    });
    const { letters } = await deadJobs.list();
    expect(letters).toHaveLength(2);

    broken = false;
    const { id } = letters.find(({ webhookId }) => webhookId === delivery.webhookId)!;
    expect(await deadJobs.requeue(id)).toBe(true);
    await waitFor(async () => (await jobs(name))[0]?.state === 'completed');
    expect(attempts.at(-1)).toBe(4);
    const [{ id: last } = { id: '' }] = (await deadJobs.list()).letters;
    expect(await deadJobs.remove(last)).toBe(true);
    expect(await deadJobs.count()).toBe(0);
  });

  it('are removed by one process at a time once they have expired, in each queue', async () => {
    const name = unique('calls');
    const queue = pgBossQueue(test.boss, { queue: name, maxRuns: 1 });
    const failing = () => {
      throw new Error('the CRM is down');
    };
    work(name, { on: { 'call:completed': failing } });
    for (let added = 0; added < 3; added++) await queue.enqueue(queuedCall(unique('call')));
    const deadJobs = pgBossDeadJobs(test.boss, { queue: name });
    await waitFor(async () => (await deadJobs.count()) === 3);

    // Another process is in the middle of its removal: its transaction is open.
    const client = new Client({ connectionString: test.server.url });
    await client.connect();
    const getDb = () => ({
      executeSql: (text: string, values: unknown[]) => client.query(text, values),
    });
    const inTransaction = Object.assign(Object.create(test.boss) as typeof test.boss, { getDb });
    const before = new Date(Date.now() + 60_000);
    const turn = { before, limit: 1, token: 'token', leaseMs: 60_000 };
    await client.query('BEGIN');
    expect(await pgBossQueue(inTransaction, { queue: name }).removeExpired!(turn)).toBe(1);
    expect(await queue.removeExpired!(turn)).toBeUndefined();
    const other = pgBossQueue(test.boss, { queue: unique('calls') });
    expect(await other.removeExpired!(turn)).toBe(0);
    await client.query('COMMIT');
    await client.end();
    expect(await queue.removeExpired!({ ...turn, limit: 9 })).toBe(2);
    expect(await deadJobs.count()).toBe(0);
  });

  it.each(['short', 'stately', ...(isPgBoss10 ? [] : ['exclusive'])])(
    'are not refused by a queue with policy %s: the error at start says so',
    async (policy) => {
      const name = unique('calls');
      await test.boss.createQueue(`${name}-dead`, { name: `${name}-dead`, policy } as never);
      const queue = pgBossQueue(test.boss, { queue: name });
      await expect(queue.migrate()).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining(`policy: '${policy}'`),
      });
    },
  );
});
