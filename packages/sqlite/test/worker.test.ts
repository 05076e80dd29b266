import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collectingLogger, deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import {
  createSqliteWorker,
  sqliteQueue,
  type SqliteQueue,
  type SqliteWorker,
  type SqliteWorkerOptions,
} from '../src/index.ts';
import { freshFile } from './support.ts';

describe('createSqliteWorker', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let queue: SqliteQueue;
  let ahead: number;
  let workers: SqliteWorker[];
  let runs: string[];
  let logger: ReturnType<typeof collectingLogger>;

  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
    ahead = 0;
    runs = [];
    workers = [];
    logger = collectingLogger();
    queue = sqliteQueue(db, { now: () => Date.now() + ahead });
  });
  afterEach(async () => {
    for (const worker of workers) await worker.close();
    db.close();
    place.remove();
  });

  type Handle = (callId: string, attempt: number, signal: AbortSignal) => unknown;
  function work(handle: Handle, options: Partial<SqliteWorkerOptions> = {}): SqliteWorker {
    const worker = createSqliteWorker(queue, {
      logger,
      pollEvery: 10,
      on: {
        'call:completed': (event, { attempt, signal }) => {
          runs.push(`${String(event.callId)} ${String(attempt)}`);
          return handle(String(event.callId), attempt, signal);
        },
      },
      ...options,
    });
    workers.push(worker);
    return worker;
  }

  it('pauses and resumes, and counts what is where', async () => {
    const worker = work(() => undefined);
    worker.pause();
    await queue.enqueue(queuedCall('call-1'));
    await queue.enqueue(queuedCall('call-2'));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(runs).toEqual([]);
    expect(await worker.stats()).toEqual({ waiting: 2, delayed: 0, running: 0, done: 0, dead: 0 });
    worker.resume();
    await waitFor(async () => (await worker.stats()).done === 2);
    expect(runs).toEqual(['call-1 1', 'call-2 1']);
    // What is done keeps no body.
    expect(db.prepare('SELECT count(delivery) AS bodies FROM call_webhooks_jobs').all()).toEqual([
      { bodies: 0 },
    ]);
  });

  it('waits longer after each attempt, for hours of its clock, and loses nothing', async () => {
    let down = true;
    const worker = work(() => {
      if (down) throw new Error('the CRM is down');
    });
    await queue.enqueue(queuedCall('call-1'));
    for (let attempt = 1; attempt <= 20; attempt++) {
      await waitFor(() => runs.length === attempt);
      await waitFor(async () => (await worker.stats()).delayed === 1);
      ahead += Math.min(3_600_000, 5_000 * 2 ** (attempt - 1)) * 0.89;
      expect(await worker.stats()).toMatchObject({ delayed: 1, waiting: 0 });
      if (attempt === 20) down = false;
      ahead += 3_600_000 * 0.3;
    }
    expect(ahead).toBeGreaterThan(12 * 3_600_000);
    await waitFor(async () => (await worker.stats()).done === 1);
    expect(runs.at(-1)).toBe('call-1 21');
  });

  it('keeps dead jobs until they are retried or discarded', async () => {
    let broken = true;
    work(
      () => {
        if (broken) throw new Error('no');
      },
      { maxAttempts: 2, backoff: { initialDelay: 1, maxDelay: 1 } },
    );
    for (const id of ['call-1', 'call-2']) await queue.enqueue(queuedCall(id));
    await waitFor(async () => (await queue.stats()).dead === 2);
    const [first, second] = await queue.deadLetters();
    expect(first).toMatchObject({ attempt: 2, error: 'The handler failed: Error: no' });
    expect(first!.failedAt.getTime()).toBeGreaterThan(Date.now() - 10_000);
    broken = false;
    expect(await queue.discardDead(second!.id)).toBe(true);
    expect(await queue.discardDead(second!.id)).toBe(false);
    expect(await queue.retryDead(first!.id)).toBe(true);
    expect(await queue.retryDead(first!.id)).toBe(false);
    await waitFor(async () => (await queue.stats()).done === 2);
    expect(runs.slice(4)).toEqual([`${first!.delivery.key!.split(':')[0]!} 3`]);
    expect(logger.lines.filter((line) => line.includes('gave up after'))).toHaveLength(2);
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
    await queue.enqueue(queuedCall('call-1'));
    await started.promise;
    await zombie.close({ graceMs: 20 });
    await aborted.promise;
    const go = deferred();
    work(() => go.promise);
    await waitFor(() => runs.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20)); // the zombie has settled by now, in vain
    expect(await queue.stats()).toMatchObject({ running: 1, done: 0 });
    go.resolve();
    await waitFor(async () => (await queue.stats()).done === 1);
    expect(runs).toEqual(['call-1 1', 'call-1 2']);
  });

  it('runs the job of a dead worker when its lease ran out, and renews those of live ones', async () => {
    const go = deferred();
    const live = work(() => go.promise, { leaseFor: 60 });
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(() => runs.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 150)); // well beyond one lease
    work(() => go.promise);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(runs).toEqual(['call-1 1']);
    db.exec("UPDATE call_webhooks_jobs SET due_at = 0, token = 'of a process that died'");
    await waitFor(() => runs.length === 2);
    go.resolve();
    await waitFor(async () => (await live.stats()).done === 1);
    expect(runs).toEqual(['call-1 1', 'call-1 2']);
  });

  it('does not run a job beside itself when its lease could not be renewed', async () => {
    const go = deferred();
    work(() => go.promise, { leaseFor: 90 });
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(() => runs.length === 1);
    const other = new Database(place.file);
    other.exec('BEGIN IMMEDIATE'); // as a backup that takes its time
    await new Promise((resolve) => setTimeout(resolve, 250)); // well beyond the lease
    other.exec('COMMIT');
    other.close();
    await queue.enqueue(queuedCall('call-2'));
    await waitFor(() => runs.length > 1);
    expect(runs).toEqual(['call-1 1', 'call-2 1']);
    go.resolve();
    await waitFor(async () => (await queue.stats()).done === 2);
    expect(runs).toHaveLength(2);
  });

  it('takes an event in again once it is forgotten', async () => {
    const worker = work(() => undefined);
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).done === 1);
    ahead += 86_400_000 - 10_000;
    await queue.enqueue(queuedCall('call-1'));
    expect(await worker.stats()).toMatchObject({ done: 1, waiting: 0 });
    ahead += 20_000;
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(() => runs.length === 2);
  });

  it('refuses events that there are not, and queues of others', () => {
    const on = { 'call:complete': () => undefined };
    // @ts-expect-error a misspelt event name does not compile
    expect(() => createSqliteWorker(queue, { on })).toThrow('there is no event "call:complete"');
    expect(() => createSqliteWorker({ ...queue }, {})).toThrow('sqliteQueue()');
  });
});
