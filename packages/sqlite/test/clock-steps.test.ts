import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  queuedCall,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { ClockSteps } from '../src/clock-steps.ts';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

describe('when the wall clock is set', () => {
  const wallClock = Date.now;
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    db.close();
    place.remove();
  });
  const setClock = (ms: number) =>
    jest.spyOn(Date, 'now').mockImplementation(() => wallClock() + ms);
  const claim = (key: string) => ({
    webhookId: unique('webhook'),
    token: unique('token'),
    replayUntil: Date.now() + 600_000,
    leaseMs: 60_000,
    key,
  });

  it('forward, a handler of this process keeps its lease, and commits', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    setClock(3_600_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.complete('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual({ status: 'duplicate' });
  });

  it('forward, an event that was released is free', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.release('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('back by an hour, the event of a dead process waits for one lease, not for an hour', async () => {
    await sqliteStore(db).admit(claim('event'));
    setClock(-3_600_000);
    const store = sqliteStore(db); // of the next process
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    setClock(-3_600_000 + 60_001);
    expect(await store.admit(claim('event'))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('back by an hour, a live handler keeps its lease', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(-3_600_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    expect(await store.complete('event', owner.token)).toBe(true);
  });

  it('back by an hour, the job of a dead process is run when one lease is over', async () => {
    const queue = sqliteQueue(db);
    await queue.enqueue(queuedCall('call-1'));
    db.exec(
      `UPDATE call_webhooks_jobs SET attempt = 1, token = 'of a dead process', due_at = ${String(Date.now() + 60_000)}`,
    );
    setClock(-3_600_000);
    const attempts: number[] = [];
    const worker = createSqliteWorker(queue, {
      logger: collectingLogger(),
      pollEvery: 5,
      leaseFor: 50,
      on: { 'call:completed': (_event, { attempt }) => void attempts.push(attempt) },
    });
    await queue.enqueue(queuedCall('call-2'));
    await waitFor(() => attempts.length === 2);
    expect(attempts.sort()).toEqual([1, 2]);
    await worker.close();
  });

  it('back by an hour, jobs that were added, released or retried by hand before are run at once', async () => {
    const queue = sqliteQueue(db);
    const logger = collectingLogger();
    const backoff = { initialDelay: 1, maxDelay: 1 };
    const hang = deferred();
    let runs = 0;
    const before = createSqliteWorker(queue, {
      ...{ logger, backoff, pollEvery: 5, maxRuns: 2 },
      on: {
        'call:completed': async ({ callId }, { attempt }) => {
          runs += 1;
          if (callId === 'dead' || attempt === 1) throw new Error('no');
          await hang.promise;
        },
      },
    });
    await queue.enqueue(queuedCall('dead'));
    await queue.enqueue(queuedCall('released'));
    await waitFor(async () => runs === 4 && (await queue.stats()).dead === 1);
    await before.close({ graceMs: 0 });
    const [dead] = await queue.deadLetters();
    await queue.retryDead(dead!.id);
    await queue.enqueue(queuedCall('added-1'));
    await queue.enqueue(queuedCall('added-2'));
    setClock(-3_600_000);
    const ran: unknown[] = [];
    const worker = createSqliteWorker(queue, {
      ...{ logger, pollEvery: 5, concurrency: 1 }, // an hour is its longest delay
      on: { 'call:completed': ({ callId }) => void ran.push(callId) },
    });
    await waitFor(() => ran.length === 4);
    expect(ran).toEqual(['dead', 'released', 'added-1', 'added-2']);
    await worker.close();
    hang.resolve();
  });

  it('back by an hour while a worker runs, a failed job waits for its backoff, and a new one does not wait', async () => {
    const queue = sqliteQueue(db);
    const ran: string[] = [];
    const worker = createSqliteWorker(queue, {
      ...{ logger: collectingLogger(), pollEvery: 5 },
      backoff: { initialDelay: 1_000, maxDelay: 3_600_000 }, // long enough to be seen on a busy machine
      on: {
        'call:completed': ({ callId }, { attempt }) => {
          ran.push(`${String(callId)} ${String(attempt)}`);
          if (attempt === 1 && callId === 'failing') throw new Error('no');
        },
      },
    });
    await queue.enqueue(queuedCall('failing'));
    await waitFor(async () => (await queue.stats()).delayed === 1);
    worker.pause();
    await queue.enqueue(queuedCall('new'));
    setClock(-3_600_000);
    worker.resume();
    await waitFor(() => ran.length === 3);
    expect(ran).toEqual(['failing 1', 'new 1', 'failing 2']);
    await worker.close();
  });
});

describe('the wall clock beside a monotonic one', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_800_000_000_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const clock = () => {
    const steps = new ClockSteps();
    return { wasSetBack: (by = 0) => steps.wasSetBack(Date.now() - by) };
  };

  it('may have been set back before the first look', () => {
    expect(clock().wasSetBack()).toBe(true);
  });

  it('was not set back while both go on, however long', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    for (const ms of [0, 1, 5_000, 3_600_000]) {
      jest.advanceTimersByTime(ms);
      expect(wasSetBack()).toBe(false);
    }
  });

  it('was set back by five seconds in ten, which is noticed once', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    jest.advanceTimersByTime(10_000);
    expect(wasSetBack(5_000)).toBe(true);
    expect(wasSetBack(5_000)).toBe(false);
  });

  it('only drifts by less than a second, or is set forward', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    expect(wasSetBack(900)).toBe(false);
    expect(wasSetBack(-60_000)).toBe(false);
    expect(wasSetBack(0)).toBe(true);
  });
});
