import * as runner from '@jest/globals';
import { describe, expect, it } from '@jest/globals';
import { queuedCall, waitFor } from '@call-webhooks/contract-tests';
import {
  deadJobsContractTests,
  queueJobsContractTests,
  type OpenedQueue,
} from '@call-webhooks/store-tests';
import type { DeadLetter } from '@call-webhooks/core';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteJobs,
  sqliteQueue,
  type SqliteWorkerOptions,
} from '../src/index.ts';
import {
  deadDeliveries,
  eachClient,
  freshFile,
  type Handle,
  useFile,
  useQueue,
} from './support.ts';

describe('dead jobs', () => {
  const { test, work, deadJobs, isDead } = useQueue();
  const once = { maxRuns: 1, backoff: { initialDelay: 1, maxDelay: 1 } };
  const start = (handle: () => unknown, options: Partial<SqliteWorkerOptions> = {}) =>
    work(handle, { ...once, ...options });

  it('are run at each retry, however often they are retried', async () => {
    let broken = true;
    start(() => {
      if (broken) throw new Error('no');
    });
    await test.queue.enqueue(queuedCall('call-1'));
    for (let retry = 1; retry <= 12; retry++) {
      await isDead();
      expect(test.runs).toHaveLength(retry);
      const job = await deadJobs().get('1');
      expect(job).toMatchObject({ attempt: retry, error: 'The handler failed: Error: no' });
      expect(job!.failedAt.getTime()).toBeGreaterThan(Date.now() - 10_000);
      if (retry === 12) broken = false;
      expect(await deadJobs().requeue('1')).toBe(true);
    }
    await waitFor(async () => (await test.queue.stats()).done === 1);
    expect(test.runs).toHaveLength(13);
  });

  it('are run at a retry when they died because their process did', async () => {
    const letters: DeadLetter[] = [];
    await test.queue.enqueue(queuedCall('call-1'));
    test.db.exec(
      "UPDATE call_webhooks_jobs SET attempt = 4, crashes = 3, token = 'of a dead process'",
    );
    start(() => undefined, { deadLetter: (letter) => void letters.push(letter) });
    await isDead();
    expect(test.runs).toEqual([]);
    expect(String(letters[0]!.error)).toContain('Its process died in each of the last 4 runs');
    await deadJobs().requeue('1');
    await waitFor(async () => (await test.queue.stats()).done === 1);
    expect(test.runs).toEqual(['call-1 6']);
  });

  it('are not jobs whose processes died before a handler failed, and once after that', async () => {
    await test.queue.enqueue(queuedCall('call-1'));
    test.db.exec('UPDATE call_webhooks_jobs SET crashes = 3'); // the last of them released it
    let runs = 0;
    work(
      () => {
        if (++runs === 1) throw new Error('no');
      },
      { maxRuns: 2, backoff: { initialDelay: 3_600_000, maxDelay: 3_600_000 } },
    );
    await waitFor(async () => (await test.queue.stats()).delayed === 1);
    test.db.exec(
      "UPDATE call_webhooks_jobs SET attempt = 2, due_at = 0, token = 'of a dead process'",
    );
    await waitFor(async () => (await test.queue.stats()).done === 1);
    expect(test.runs).toEqual(['call-1 1', 'call-1 3']);
  });

  it('are not given up while deadLetter fails: it is called again, without the handler, also by the next worker', async () => {
    const letters: DeadLetter[] = [];
    let asked = 0;
    const broken = () => {
      asked += 1;
      throw new Error('the disk is full');
    };
    const fail = () => {
      throw new Error('the CRM is down');
    };
    const worker = start(fail, { deadLetter: broken });
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(() => asked >= 3);
    expect(await test.queue.stats()).toMatchObject({ dead: 0 });
    await worker.close(); // it may have taken the job once more, without asking
    const { attempt } = test.db.prepare('SELECT attempt FROM call_webhooks_jobs').get() as {
      attempt: number;
    };
    expect(attempt).toBeGreaterThanOrEqual(asked);
    start(fail, { deadLetter: (letter) => void letters.push(letter) });
    await isDead();
    expect(test.runs).toEqual(['call-1 1']);
    expect(letters).toMatchObject([
      { attempt: attempt + 1, error: new Error('The handler failed: Error: the CRM is down') },
    ]);
    await deadJobs().requeue('1'); // by hand, it gets its handler again
    await waitFor(() => test.runs.length === 2);
  });

  it('that are removed keep no body, and their events are known as long as handled ones', async () => {
    start(() => {
      throw new Error('no');
    });
    await test.queue.enqueue(queuedCall('call-1'));
    await isDead();
    expect(await deadJobs().remove('1')).toBe(true);
    expect(test.logger.lines.filter((line) => line.includes('gave up after'))).toHaveLength(1);
    const bodies = test.db.prepare('SELECT count(delivery) AS bodies FROM call_webhooks_jobs');
    expect(bodies.all()).toEqual([{ bodies: 0 }]);
    test.ahead += 86_400_000 - 60_000;
    await test.queue.enqueue(queuedCall('call-1'));
    expect(await test.queue.stats()).toMatchObject({ done: 1, dead: 0 });
    test.ahead += 120_000;
    await test.queue.enqueue(queuedCall('call-1'));
    await isDead();
    expect(test.runs).toEqual(['call-1 1', 'call-1 1']);
  });

  it('leave nothing in a job that was handled, nor in one of the same event that comes once it is forgotten', async () => {
    let isDown = true;
    const worker = start(() => {
      if (isDown) throw new Error('no');
    });
    await test.queue.enqueue(queuedCall('call-1'));
    await isDead();
    isDown = false;
    await deadJobs().requeue('1');
    await waitFor(async () => (await test.queue.stats()).done === 1);
    const rows = () =>
      test.db.prepare('SELECT * FROM call_webhooks_jobs ORDER BY id').all() as object[];
    const some = { event: expect.any(String), due_at: expect.any(Number) };
    const none = { token: null, abandon_reason: null, error: null, failures: null };
    expect(rows()).toEqual([
      {
        id: 1,
        state: 'done',
        attempt: 2,
        crashes: 0,
        is_last_run: 1,
        delivery: null,
        ...some,
        ...none,
      },
    ]);
    worker.pause();
    test.db.exec(
      `UPDATE call_webhooks_jobs SET crashes = 2, token = 'of a commit', abandon_reason = 'odd', error = 'odd', failures = '[]'`,
    );
    test.ahead += 86_400_001;
    for (const callId of ['call-1', 'call-2']) await test.queue.enqueue(queuedCall(callId));
    const fresh = { state: 'open', attempt: 0, crashes: 0, is_last_run: 0, ...some, ...none };
    expect(rows()).toEqual(
      [1, 2].map((id) => ({
        id: expect.any(Number),
        delivery: expect.stringContaining(`call-${String(id)}`),
        ...fresh,
      })),
    );
  });

  it('have the first of their failures and the last 49', async () => {
    start(
      () => {
        throw new Error('no');
      },
      { maxRuns: 53 },
    );
    await test.queue.enqueue(queuedCall('call-1'));
    await isDead();
    const { history = [], attempt } = (await deadJobs().get('1')) ?? {};
    const last = Array.from({ length: 49 }, (_, index) => index + 5);
    expect([history.map((failure) => failure.attempt), attempt]).toEqual([[1, ...last], 53]);
  });

  it('are given up for crashes only once deadLetter was told', async () => {
    let asked = 0;
    await test.queue.enqueue(queuedCall('call-1'));
    test.db.exec(
      "UPDATE call_webhooks_jobs SET attempt = 4, crashes = 3, token = 'of a dead process'",
    );
    start(() => undefined, {
      deadLetter: () => {
        if (++asked < 3) throw new Error('the disk is full');
      },
    });
    await isDead();
    expect(asked).toBe(3);
    expect(test.runs).toEqual([]);
  });
});

describe('the dead jobs of a queue', () => {
  const test = useFile();

  /** Jobs that died at one time, with the ids 1, 2, 3 … */
  async function deadJobs(count: number) {
    const queue = sqliteQueue(test.db);
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        queue.enqueue(queuedCall(`call-${String(index)}`)),
      ),
    );
    test.db.exec(
      `UPDATE call_webhooks_jobs SET state = 'dead', attempt = 1, error = 'no', due_at = 1800000000000,
       failures = '[{"at":1800000000000,"attempt":1,"error":"no"}]'`,
    );
    return sqliteDeadJobs(queue);
  }

  it('of a worker that died wait, and can be erased, once its lease has run out', async () => {
    let ahead = 0;
    const queue = sqliteQueue(test.db, { now: () => Date.now() + ahead });
    await queue.enqueue(queuedCall('call-1'));
    const jobs = sqliteJobs(queue);
    test.db.exec(
      `UPDATE call_webhooks_jobs SET attempt = 1, token = 'of a process that died', due_at = ${String(Date.now() + 60_000)}`,
    );
    const states = async () => (await jobs.list()).jobs.map(({ state }) => state);
    expect(await states()).toEqual(['running']);
    expect(await jobs.erase('1', 'waiting')).toBe(false);
    ahead = 61_000;
    expect(await states()).toEqual(['waiting']);
    expect(await jobs.erase('1', 'waiting')).toBe(true);
    expect(await states()).toEqual([]);
  });

  it('are listed once each, beyond one page of the file', async () => {
    const jobs = await deadJobs(450);
    const { letters } = await jobs.list({ limit: 1_000 });
    const ids = letters.map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
    expect(await jobs.count()).toBe(450);
  });

  it('have whole numbers as ids, and nothing else is one', async () => {
    const jobs = await deadJobs(1);
    const others = [
      'no id',
      '',
      '1.0',
      ' 1',
      '1 ',
      '+1',
      '-1',
      '1e0',
      '0x1',
      '01x',
      '0'.repeat(20),
    ];
    for (const id of others) {
      expect(await jobs.get(id)).toBeUndefined();
      expect(await jobs.requeue(id)).toBe(false);
      expect(await jobs.remove(id)).toBe(false);
    }
    expect(await jobs.get('1')).toMatchObject({ id: '1' });
    expect(await jobs.requeue('1')).toBe(true);
  });
});

describe('the contract of dead jobs', () => {
  eachClient((client) => {
    const subject = {
      name: `sqliteDeadJobs on ${client.name}`,
      keepsAttempts: true,
      open({ maxRuns, concurrency }: { maxRuns: number; concurrency: number }) {
        const { file, remove } = freshFile();
        const handles: Handle[] = [];
        const connect = () => {
          const handle = client.open(file);
          handles.push(handle);
          return handle;
        };
        const db = connect();
        const queue = sqliteQueue(db);
        const backoff = { initialDelay: 5, maxDelay: 5 };
        return Promise.resolve({
          queue,
          startWorker: (handlers: Parameters<OpenedQueue['startWorker']>[0]) =>
            Promise.resolve(
              createSqliteWorker(sqliteQueue(connect()), {
                ...handlers,
                ...{ maxRuns, concurrency, backoff, pollEvery: 10 },
              }),
            ),
          jobs: sqliteJobs(queue),
          deadJobs: sqliteDeadJobs(queue),
          others: sqliteDeadJobs(sqliteQueue(connect())),
          deadLetters: () => deadDeliveries(db),
          close() {
            for (const handle of handles) handle.close();
            remove();
            return Promise.resolve();
          },
        });
      },
    };
    deadJobsContractTests(runner, subject);
    queueJobsContractTests(runner, { ...subject, name: `sqliteJobs on ${client.name}` });
  });
});
