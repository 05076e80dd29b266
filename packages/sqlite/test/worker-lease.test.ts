import { afterEach, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { createSqliteWorker, sqliteQueue, type SqliteDatabase } from '../src/index.ts';

afterEach(() => {
  jest.useRealTimers();
});

const LEASE_MS = 60_000;

it('a worker counts its lease from when it asked for the job, however late the file answered', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const db = new Database(':memory:');
  let lateMs = 0;
  let askedAt = NaN;
  const renewedAt: number[] = [];
  /** A file that another process has locked for a while. */
  const slow: SqliteDatabase = {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql);
      return {
        all(...values: unknown[]) {
          if (sql.startsWith('UPDATE') && sql.includes('crashes = crashes')) {
            askedAt = performance.now();
            jest.advanceTimersByTime(lateMs);
          }
          return statement.all(...values);
        },
        run(...values: unknown[]) {
          if (/^UPDATE \S+ SET due_at = \? WHERE id = /.test(sql))
            renewedAt.push(performance.now());
          return statement.run(...values);
        },
      };
    },
  };
  const queue = sqliteQueue(slow);
  await queue.enqueue(queuedCall('call-1'));
  const started = deferred();
  const ended = deferred();
  lateMs = 9_000;
  const worker = createSqliteWorker(queue, {
    ...{ leaseFor: LEASE_MS, pollEvery: 3_600_000, logger: collectingLogger() },
    on: {
      'call:completed': () => {
        started.resolve();
        return ended.promise;
      },
    },
  });
  await started.promise;
  lateMs = 0;
  const takenAt = askedAt;
  expect(performance.now() - takenAt).toBe(9_000);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await jest.advanceTimersByTimeAsync(1_000);
      await new Promise((resolve) => setImmediate(resolve)); // what the file answers
    }
  };
  await pass(55);
  ended.resolve();
  await pass(1);
  await worker.close({ graceMs: 0 });
  db.close();
  // Every third of the lease.
  expect(renewedAt.map((at) => at - takenAt)).toEqual([20_000, 40_000, 60_000]);
});

it('a job whose handler did not end when its worker was closed can be run by another one at once', async () => {
  const db = new Database(':memory:');
  const queue = sqliteQueue(db);
  await queue.enqueue(queuedCall('call-1'));
  const started = deferred();
  const worker = createSqliteWorker(queue, {
    ...{ leaseFor: LEASE_MS, logger: collectingLogger() },
    on: {
      'call:completed': () => {
        started.resolve();
        return new Promise(() => undefined);
      },
    },
  });
  await started.promise;
  expect(await queue.stats()).toMatchObject({ running: 1, waiting: 0 });
  await worker.close({ graceMs: 0 });
  expect(await queue.stats()).toMatchObject({ running: 0, waiting: 1, delayed: 0 });
  db.close();
});

it.each([
  [undefined, 4],
  [1, 1],
  [6, 6],
])(
  'a worker whose concurrency is %p runs %d jobs at the same time',
  async (concurrency, expected) => {
    const db = new Database(':memory:');
    const queue = sqliteQueue(db);
    const go = deferred();
    let [running, most] = [0, 0];
    const calls = Array.from({ length: 9 }, (_, index) => `call-${String(index)}`);
    for (const callId of calls) await queue.enqueue(queuedCall(callId));
    const worker = createSqliteWorker(queue, {
      ...{ concurrency, pollEvery: 5, logger: collectingLogger() },
      on: {
        'call:completed': async () => {
          most = Math.max(most, ++running);
          await go.promise;
          running -= 1;
        },
      },
    });
    const isFull = async () => (await queue.stats()).running === expected;
    await waitFor(isFull);
    for (let looks = 0; looks < 20; looks++) await worker.stats();
    expect([running, await isFull()]).toEqual([expected, true]);
    go.resolve();
    await waitFor(async () => (await queue.stats()).done === calls.length);
    expect(most).toBe(expected);
    await worker.close();
    db.close();
  },
);
