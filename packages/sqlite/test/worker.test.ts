import * as runner from '@jest/globals';
import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { completeJobContractTests } from '@call-webhooks/store-tests';
import Database from 'libsql';
import { createSqliteWorker, sqliteQueue } from '../src/index.ts';
import { jobsOf } from '../src/queue.ts';
import { onHandle, type Transactions } from './complete-in.ts';
import { type Client, deadDeliveries, eachClient, freshFile, useQueue } from './support.ts';

describe('createSqliteWorker', () => {
  const { test, work, deadJobs } = useQueue();

  it('pauses and resumes, and counts what is where', async () => {
    const worker = work(() => undefined);
    worker.pause();
    await test.queue.enqueue(queuedCall('call-1'));
    await test.queue.enqueue(queuedCall('call-2'));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(test.runs).toEqual([]);
    expect(await worker.stats()).toEqual({ waiting: 2, delayed: 0, running: 0, done: 0, dead: 0 });
    worker.resume();
    await waitFor(async () => (await worker.stats()).done === 2);
    expect(test.runs).toEqual(['call-1 1', 'call-2 1']);
    // What is done keeps no body.
    expect(
      test.db.prepare('SELECT count(delivery) AS bodies FROM call_webhooks_jobs').all(),
    ).toEqual([{ bodies: 0 }]);
  });

  it('waits longer after each attempt, for hours of its clock, and loses nothing', async () => {
    let down = true;
    const worker = work(() => {
      if (down) throw new Error('the CRM is down');
    });
    await test.queue.enqueue(queuedCall('call-1'));
    for (let attempt = 1; attempt <= 20; attempt++) {
      await waitFor(() => test.runs.length === attempt);
      await waitFor(async () => (await worker.stats()).delayed === 1);
      test.ahead += Math.min(3_600_000, 5_000 * 2 ** (attempt - 1)) * 0.89;
      expect(await worker.stats()).toMatchObject({ delayed: 1, waiting: 0 });
      if (attempt === 20) down = false;
      test.ahead += 3_600_000 * 0.3;
    }
    expect(test.ahead).toBeGreaterThan(12 * 3_600_000);
    await waitFor(async () => (await worker.stats()).done === 1);
    expect(test.runs.at(-1)).toBe('call-1 21');
  });

  it('counts a job whose lease ran out as waiting, and one whose delay is over', async () => {
    const go = deferred();
    const worker = work(
      (callId) => {
        if (callId === 'failing') throw new Error('the CRM is down');
        return go.promise;
      },
      { leaseFor: 60_000, concurrency: 2, backoff: { initialDelay: 120_000 } },
    );
    await test.queue.enqueue(queuedCall('hanging'));
    await test.queue.enqueue(queuedCall('failing'));
    const stats = async () => {
      const { waiting, running, delayed } = await test.queue.stats();
      return { waiting, running, delayed };
    };
    await waitFor(async () => (await worker.stats()).delayed === 1);
    expect(await stats()).toEqual({ waiting: 0, running: 1, delayed: 1 });
    worker.pause();
    test.ahead = 60_001;
    expect(await stats()).toEqual({ waiting: 1, running: 0, delayed: 1 });
    test.ahead = 150_000; // the delay has a jitter
    expect(await stats()).toEqual({ waiting: 2, running: 0, delayed: 0 });
    go.resolve();
  });

  it('releases jobs that do not end in time at shutdown, and can not settle them afterwards', async () => {
    const started = deferred();
    const aborted = deferred();
    const zombie = work(async (_callId, _attempt, signal) => {
      started.resolve();
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
      aborted.resolve();
    });
    await test.queue.enqueue(queuedCall('call-1'));
    await started.promise;
    await zombie.close({ graceMs: 20 });
    await aborted.promise;
    const go = deferred();
    work(() => go.promise);
    await waitFor(() => test.runs.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20)); // the zombie has settled by now, in vain
    expect(await test.queue.stats()).toMatchObject({ running: 1, done: 0 });
    go.resolve();
    await waitFor(async () => (await test.queue.stats()).done === 1);
    expect(test.runs).toEqual(['call-1 1', 'call-1 2']);
  });

  it('runs the job of a dead worker when its lease ran out, and renews those of live ones', async () => {
    const go = deferred();
    const live = work(() => go.promise, { leaseFor: 1_500 });
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(() => test.runs.length === 1);
    work(() => go.promise);
    const leases = new Set<unknown>();
    const lease = test.db.prepare('SELECT due_at FROM call_webhooks_jobs');
    // A lease is renewed after a third of it: the first one has run out by then.
    await waitFor(() => leases.add((lease.get() as { due_at: number }).due_at).size > 3);
    expect(test.runs).toEqual(['call-1 1']);
    test.db.exec("UPDATE call_webhooks_jobs SET due_at = 0, token = 'of a process that died'");
    await waitFor(() => test.runs.length === 2);
    go.resolve();
    await waitFor(async () => (await live.stats()).done === 1);
    expect(test.runs).toEqual(['call-1 1', 'call-1 2']);
  });

  it('aborts a handler whose job went to another process, and its end changes nothing', async () => {
    const aborted = deferred();
    const go = deferred();
    work(
      async (_callId, _attempt, signal) => {
        signal.addEventListener('abort', () => aborted.resolve());
        await go.promise;
      },
      { leaseFor: 90 },
    );
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(() => test.runs.length === 1);
    const due = Date.now() + 3_600_000;
    test.db.exec(`UPDATE call_webhooks_jobs SET due_at = ${String(due)}, token = 'of another one'`);
    await aborted.promise;
    go.resolve();
    expect(await test.queue.stats()).toMatchObject({ running: 1, done: 0 });
    expect(test.runs).toEqual(['call-1 1']);
  });

  it('does not run a job beside itself when its lease could not be renewed', async () => {
    const go = deferred();
    work(() => go.promise, { leaseFor: 90 });
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(() => test.runs.length === 1);
    const other = new Database(test.file);
    other.exec('BEGIN IMMEDIATE'); // as a backup that takes its time
    await new Promise((resolve) => setTimeout(resolve, 250)); // well beyond the lease
    other.exec('COMMIT');
    other.close();
    await test.queue.enqueue(queuedCall('call-2'));
    await waitFor(() => test.runs.length > 1);
    expect(test.runs).toEqual(['call-1 1', 'call-2 1']);
    go.resolve();
    await waitFor(async () => (await test.queue.stats()).done === 2);
    expect(test.runs).toHaveLength(2);
  });

  it('takes an event in again once it is forgotten', async () => {
    const worker = work(() => undefined);
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).done === 1);
    test.ahead += 86_400_000 - 10_000;
    await test.queue.enqueue(queuedCall('call-1'));
    expect(await worker.stats()).toMatchObject({ done: 1, waiting: 0 });
    test.ahead += 20_000;
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(() => test.runs.length === 2);
  });

  it('runs a failed job when it is due, without waiting for the next look', async () => {
    const worker = work(
      (_callId, attempt) => {
        if (attempt === 1) throw new Error('no');
      },
      { pollEvery: 3_600_000, backoff: { initialDelay: 20, maxDelay: 20 } },
    );
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).done === 1);
    expect(test.runs).toEqual(['call-1 1', 'call-1 2']);
  });

  it('forgets handled events with each hundredth job that is added', async () => {
    const worker = work(() => undefined);
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).done === 1);
    worker.pause();
    test.ahead += 86_400_000;
    for (let added = 2; added <= 100; added++)
      await test.queue.enqueue(queuedCall(`call-${String(added)}`));
    expect(await worker.stats()).toMatchObject({ waiting: 99, done: 1 });
    await test.queue.enqueue(queuedCall('call-101'));
    expect(await worker.stats()).toMatchObject({ waiting: 100, done: 0 });
  });

  it('runs a job that this process adds or retries without waiting for the next look', async () => {
    let broken = true;
    const worker = work(
      () => {
        if (broken) throw new Error('no');
      },
      { pollEvery: 3_600_000, maxRuns: 1 },
    );
    await worker.stats(); // the first look is over
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).dead === 1);
    broken = false;
    await deadJobs().requeue('1');
    await waitFor(async () => (await worker.stats()).done === 1);
  });

  it('leaves no timer and no listener behind when it was closed, also where dead jobs expire', async () => {
    const queue = sqliteQueue(test.db, { keepFor: 3_600_000 });
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
    });
    try {
      for (let round = 1; round <= 3; round++) {
        const worker = createSqliteWorker(queue, { logger: test.logger });
        await worker.stats();
        expect(jest.getTimerCount()).toBeGreaterThan(0);
        expect(jobsOf('this test', queue).listeners.size).toBe(1);
        await worker.close();
        expect(jest.getTimerCount()).toBe(0);
        expect(jobsOf('this test', queue).listeners.size).toBe(0);
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('logs one line for each outage of the file, redacted as its other lines are', async () => {
    const redact = (text: string) => text.replaceAll('no such table', 'no *** table');
    const exec = jest.spyOn(test.db, 'exec');
    const looks = () => exec.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
    await test.queue.ping(); // creates the table
    for (let outages = 1; outages <= 2; outages++) {
      test.db.exec('ALTER TABLE call_webhooks_jobs RENAME TO elsewhere');
      if (outages === 1) work(() => undefined, { redact });
      const before = looks();
      await waitFor(() => looks() > before + 5);
      test.db.exec('ALTER TABLE elsewhere RENAME TO call_webhooks_jobs');
      await test.queue.enqueue(queuedCall('call-1', { key: `event ${String(outages)}` }));
      await waitFor(() => test.runs.length === outages);
      const failures = test.logger.entries.filter(({ level }) => level === 'error');
      expect(failures).toHaveLength(outages);
      expect(failures.at(-1)).toMatchObject({
        message: expect.stringMatching(
          /^call-webhooks: the SQLite queue is failing: .*no \*\*\* table/,
        ),
        fields: {
          err: { message: expect.stringContaining('no *** table') },
          docs: expect.stringContaining('queues.html#sqlite'),
        },
      });
    }
  });
});

describe('completeIn in a worker', () => {
  /** A queue and its workers on connections of their own, and a table of effects beside them. */
  function openWithEffects(client: Client) {
    const { file, remove } = freshFile();
    const handles: ReturnType<Client['open']>[] = [];
    const connect = () => {
      const handle = client.open(file);
      handles.push(handle);
      return handle;
    };
    const db = connect();
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('CREATE TABLE effects (number INTEGER PRIMARY KEY, effect TEXT)');
    const transactions = onHandle(client, file);
    return {
      db,
      queue: sqliteQueue(db),
      connect: () => sqliteQueue(connect()),
      client: transactions.client,
      transact: (work: Parameters<Transactions['transact']>[0]) => transactions.transact(work),
      committed(effect: string) {
        const count = db.prepare('SELECT count(*) AS count FROM effects WHERE effect = ?');
        const [row] = count.all(effect) as { count: number }[];
        return Promise.resolve(row!.count);
      },
      async close() {
        await transactions.close();
        for (const handle of handles) handle.close();
        remove();
      },
    };
  }

  const fast = { backoff: { initialDelay: 5, maxDelay: 5 }, pollEvery: 10 };

  eachClient((client) => {
    completeJobContractTests(runner, {
      name: `sqliteQueue, with ${client.name}`,
      open(limits) {
        const opened = openWithEffects(client);
        const { connect } = opened;
        return Promise.resolve({
          ...opened,
          startWorker: (handlers) =>
            Promise.resolve(createSqliteWorker(connect(), { ...handlers, ...limits, ...fast })),
          deadLetters: () => deadDeliveries(opened.db),
        });
      },
    });

    it(`fences a run that lost its job, and renews no lease that its own commit ended: ${client.name}`, async () => {
      const { db, queue, connect, transact, committed, close } = openWithEffects(client);
      const ends: string[] = [];
      let aborted: boolean | undefined;
      const worker = createSqliteWorker(connect(), {
        ...fast,
        leaseFor: 60,
        logger: collectingLogger(),
        on: {
          'call:completed': async (_event, { attempt, completeIn, signal }) => {
            if (attempt === 1)
              db.exec("UPDATE call_webhooks_jobs SET due_at = 0, token = 'of another worker'");
            await transact(async ({ tx, write }) => {
              await write('call-1');
              await completeIn(tx);
            }).catch((error: unknown) => {
              ends.push(`${String(attempt)}: ${String(error)}`);
              throw error;
            });
            await new Promise((resolve) => setTimeout(resolve, 100)); // some renewals later
            aborted = signal.aborted;
          },
        },
      });
      await queue.enqueue(queuedCall('call-1'));
      await waitFor(async () => (await queue.stats()).done === 1);
      await waitFor(() => aborted !== undefined);
      expect(aborted).toBe(false);
      expect(ends).toEqual([expect.stringContaining('the lease was lost')]);
      expect(await committed('call-1')).toBe(1);
      await worker.close();
      expect(await queue.stats()).toMatchObject({ done: 1, waiting: 0, delayed: 0, running: 0 });
      await close();
    });

    it(`forgets the failed attempts of a job that it completes: ${client.name}`, async () => {
      const { db, queue, connect, transact, committed, close } = openWithEffects(client);
      const worker = createSqliteWorker(connect(), {
        ...fast,
        logger: collectingLogger(),
        on: {
          'call:completed': async (_event, { attempt, completeIn }) => {
            if (attempt === 1) throw new Error('the CRM is down');
            await transact(async ({ tx, write }) => {
              await write('call-1');
              await completeIn(tx);
            });
          },
        },
      });
      await queue.enqueue(queuedCall('call-1'));
      await waitFor(async () => (await queue.stats()).done === 1);
      await worker.close();
      expect(await committed('call-1')).toBe(1);
      const rows = db.prepare('SELECT attempt, failures, delivery FROM call_webhooks_jobs').all();
      expect(rows).toMatchObject([{ attempt: 2, failures: null, delivery: null }]);
      await close();
    });
  });
});
