import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  queuedCall,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
} from '../src/index.ts';
import { ClockSteps, HeldLeases } from '../src/wall-clock.ts';
import { useFile } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('when the wall clock is set', () => {
  const wallClock = Date.now;
  const test = useFile();
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const setClock = (ms: number) =>
    jest.spyOn(Date, 'now').mockImplementation(() => wallClock() + ms);
  const claim = (key: string, group?: string) => ({
    webhookId: unique('webhook'),
    token: unique('token'),
    replayUntil: Date.now() + 600_000,
    leaseMs: 60_000,
    key,
    group,
  });
  const admitted = (attempt: number) => ({ status: 'admitted', attempt });
  const inProgress = { status: 'in-progress' };
  const groupBusy = { status: 'group-busy' };

  it('forward, a handler of this process keeps its lease, and commits', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    setClock(HOUR);
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.complete('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual({ status: 'duplicate' });
  });

  it.each([
    ['dead letters', () => sqliteDeadLetters(test.db)],
    ['dead jobs', () => sqliteQueue(test.db)],
  ])('back, a process that died does not keep others from removing old %s', async (_, open) => {
    const before = new Date(Date.now() - HOUR);
    const remove = (token: string) =>
      open().removeExpired!({ before, limit: 10, token, leaseMs: 60_000 });
    setClock(HOUR);
    expect(await remove('died')).toBe(0);
    expect(await remove('other')).toBeUndefined();
    setClock(0);
    expect(await remove('other')).toBe(0);
    expect(await remove('third')).toBeUndefined();
    setClock(61_000);
    expect(await remove('third')).toBe(0);
  });

  it('forward, a handler keeps a lease that it has renewed, for as long as it renewed it', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event');
    await store.admit(owner);
    const from = performance.now();
    const monotonic = jest.spyOn(performance, 'now');
    const isPast = (ms: number) => void monotonic.mockReturnValue(from + ms);
    isPast(40_000);
    setClock(40_000);
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    setClock(HOUR);
    isPast(99_000);
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.peek!(['event'])).toEqual(['running']);
    isPast(101_000);
    expect(await store.peek!(['event'])).toEqual(['failed']);
    expect(await store.complete('event', owner.token)).toBe(false);
    expect(await store.admit(claim('event'))).toEqual(admitted(2));
  });

  it('forward, a handler keeps its lease after the renewal of the one before it was refused', async () => {
    const store = sqliteStore(test.db);
    const lost = claim('event');
    await store.admit(lost);
    test.db.exec('UPDATE call_webhooks_events SET lease_until = 0'); // another process has released it
    const owner = claim('event');
    expect(await store.admit(owner)).toEqual(admitted(2));
    expect(await store.extend('event', lost.token, 60_000)).toBe(false);
    expect(await store.complete('event', lost.token)).toBe(false);
    setClock(HOUR);
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.complete('event', owner.token)).toBe(true);
  });

  it('forward, a handler of this process commits in a transaction', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(HOUR);
    test.db.exec('BEGIN');
    expect(store.completeIn(test.db, 'event', 'of another process')).toBe(false);
    expect(store.completeIn(test.db, 'event', owner.token)).toBe(true);
    test.db.exec('COMMIT');
  });

  it('forward, a handler of this process keeps its group', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event', 'call');
    await store.admit(owner);
    setClock(HOUR);
    const other = claim('other', 'call');
    expect(await store.admit(other)).toEqual(groupBusy);
    expect(await store.complete('event', owner.token)).toBe(true);
    expect(await store.admit(other)).toEqual(admitted(1));
  });

  it('forward, an event that was released is free', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.release('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual(admitted(2));
  });

  it('back by an hour, the event and the group of a dead process wait for one lease, not for an hour', async () => {
    await sqliteStore(test.db).admit(claim('event', 'call'));
    setClock(-HOUR);
    const store = sqliteStore(test.db); // of the next process
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.admit(claim('other', 'call'))).toEqual(groupBusy);
    setClock(-HOUR + 60_001);
    expect(await store.admit(claim('other', 'call'))).toEqual(admitted(1));
    expect(await store.admit(claim('event'))).toEqual(admitted(2));
  });

  it('back by a few minutes, the event and the group of a dead process wait for one lease as well', async () => {
    await sqliteStore(test.db).admit(claim('event', 'call'));
    setClock(-5 * MINUTE); // the lease ends in six minutes, and no receiver asks for more than four
    const store = sqliteStore(test.db); // of the next process
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.admit(claim('other', 'call'))).toEqual(groupBusy);
    setClock(-5 * MINUTE + 60_001);
    expect(await store.admit(claim('other', 'call'))).toEqual(admitted(1));
    expect(await store.admit(claim('event'))).toEqual(admitted(2));
  });

  describe('back, what a dead process has taken', () => {
    const setTo = (at: number) => jest.spyOn(Date, 'now').mockReturnValue(at);

    it.each([
      [240_000, inProgress],
      [240_001, admitted(2)],
    ])('waits for one lease if more than the longest is left: %d ms', async (left, admission) => {
      const at = wallClock();
      setTo(at + left - 60_000);
      await sqliteStore(test.db).admit(claim('event'));
      setTo(at);
      const store = sqliteStore(test.db); // of the next process
      expect(await store.admit(claim('event'))).toEqual(inProgress);
      setTo(at + 60_001);
      expect(await store.admit(claim('event'))).toEqual(admission);
    });

    it.each([
      [900_000, ['first', 'second', 'third']],
      [900_001, ['first', 'second', 'taken', 'third']],
    ])('from a queue waits for one lease if %d ms are left: %j', async (left, all) => {
      const at = wallClock();
      setTo(at);
      const queue = sqliteQueue(test.db);
      await queue.enqueue(queuedCall('taken'));
      test.db.exec(
        `UPDATE call_webhooks_jobs SET attempt = 1, token = 'of a dead process', due_at = ${String(at + left)}`,
      );
      const ran: string[] = [];
      const worker = createSqliteWorker(queue, {
        ...{ logger: collectingLogger(), pollEvery: 5, leaseFor: 50 },
        on: { 'call:completed': ({ callId }) => void ran.push(String(callId)) },
      });
      for (const callId of ['first', 'second', 'third']) {
        await queue.enqueue(queuedCall(callId));
        await waitFor(() => ran.includes(callId));
        setTo(at + 51);
      }
      await worker.close();
      expect(ran.sort()).toEqual(all);
    });
  });

  it('back by an hour, a live handler keeps its lease', async () => {
    const store = sqliteStore(test.db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(-HOUR);
    expect(await store.admit(claim('event'))).toEqual(inProgress);
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    expect(await store.complete('event', owner.token)).toBe(true);
  });

  it('back by an hour, the job of a dead process is run when one lease is over', async () => {
    const queue = sqliteQueue(test.db);
    await queue.enqueue(queuedCall('call-1'));
    test.db.exec(
      `UPDATE call_webhooks_jobs SET attempt = 1, token = 'of a dead process', due_at = ${String(Date.now() + 60_000)}`,
    );
    setClock(-HOUR);
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

  it.each([
    ['is set back when it starts', -10_000],
    ['stays as it is', 0],
  ])(
    'a worker with short leases leaves those of another one alone, if the clock %s',
    async (_what, ms) => {
      const queue = sqliteQueue(test.db);
      const runs: string[] = [];
      const hang = deferred();
      const start = (name: string, leaseFor: number) =>
        createSqliteWorker(queue, {
          ...{ logger: collectingLogger(), pollEvery: 5, leaseFor },
          on: {
            'call:completed': ({ callId }) => {
              runs.push(`${name} ${String(callId)}`);
              return callId === 'long' ? hang.promise : undefined;
            },
          },
        });
      const slow = start('slow', 600_000);
      await queue.enqueue(queuedCall('long'));
      await waitFor(() => runs.length === 1);
      slow.pause();
      const [lease] = test.db.prepare('SELECT due_at FROM call_webhooks_jobs').all();
      setClock(ms);
      const quick = start('quick', 20);
      await queue.enqueue(queuedCall('short'));
      await waitFor(async () => (await queue.stats()).done === 1);
      expect(
        test.db.prepare(`SELECT due_at FROM call_webhooks_jobs WHERE state = 'open'`).all(),
      ).toEqual([lease]);
      expect(runs).toEqual(['slow long', 'quick short']);
      hang.resolve();
      await Promise.all([slow.close(), quick.close()]);
    },
  );

  it('back by an hour, jobs that were added, released or requeued before are run at once', async () => {
    const queue = sqliteQueue(test.db);
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
    await sqliteDeadJobs(queue).requeue('1');
    await queue.enqueue(queuedCall('added-1'));
    await queue.enqueue(queuedCall('added-2'));
    setClock(-HOUR);
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
    const queue = sqliteQueue(test.db);
    const ran: string[] = [];
    const worker = createSqliteWorker(queue, {
      ...{ logger: collectingLogger(), pollEvery: 5 },
      backoff: { initialDelay: 1_000, maxDelay: HOUR }, // long enough to be seen on a busy machine
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
    setClock(-HOUR);
    worker.resume();
    await waitFor(() => ran.length === 3);
    expect(ran).toEqual(['failing 1', 'new 1', 'failing 2']);
    await worker.close();
  });
});

describe('the wall clock beside a monotonic one', () => {
  let steps: ClockSteps;
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_800_000_000_000 });
    steps = new ClockSteps();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const wasSetBack = (by = 0) => steps.wasSetBack(Date.now() - by);

  it('may have been set back before the first look, and was not while both go on', () => {
    expect(wasSetBack()).toBe(true);
    for (const ms of [0, 1, 5_000, HOUR]) {
      jest.advanceTimersByTime(ms);
      expect(wasSetBack()).toBe(false);
    }
  });

  it('was set back by five seconds in ten, which is noticed once', () => {
    wasSetBack();
    jest.advanceTimersByTime(10_000);
    expect(wasSetBack(5_000)).toBe(true);
    expect(wasSetBack(5_000)).toBe(false);
  });

  it('only drifts by less than a second, or is set forward', () => {
    wasSetBack();
    expect(wasSetBack(900)).toBe(false);
    expect(wasSetBack(-60_000)).toBe(false);
    expect(wasSetBack(0)).toBe(true);
  });
});

describe('the leases of this process', () => {
  let held: HeldLeases;
  beforeEach(() => {
    jest.useFakeTimers();
    held = new HeldLeases();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are held until they run out or are ended, by their token alone', () => {
    held.take('key', 'token', 1_000);
    held.end('key', 'other');
    expect(held.holds('key', 'token')).toBe(true);
    expect(held.holds('key', 'other')).toBe(false);
    expect(held.holds('other', 'token')).toBe(false);
    jest.advanceTimersByTime(1_001);
    expect(held.holds('key', 'token')).toBe(false);
    held.end('key', 'token');
    expect(held.size).toBe(0);
  });

  it('are forgotten once they have run out, in the order in which they were taken last', () => {
    held.take('extended', 'token', 1_000);
    for (let lease = 0; lease < 5; lease++) {
      held.take(`key ${String(lease)}`, 'token', 1_000);
      jest.advanceTimersByTime(100);
    }
    held.take('extended', 'token', 1_000);
    jest.advanceTimersByTime(950);
    expect(held.size).toBe(6);
    held.take('last', 'token', 1_000);
    expect(held.size).toBe(2);
    expect(['extended', 'last'].every((key) => held.holds(key, 'token'))).toBe(true);
  });
});
