import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { queuedCall, unique, waitFor } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import Database from 'libsql';
import { HeldLeases } from '../src/held-leases.ts';
import { sqliteStore } from '../src/index.ts';
import type { TakenJob } from '../src/job-rows.ts';
import { Jobs } from '../src/jobs.ts';
import { leasedJob } from '../src/leased-job.ts';
import { freshFile } from './support.ts';
import { useQueue } from './use-queue.ts';

const HOUR = 3_600_000;
const REMEMBER_FOR = 24 * HOUR;

describe('the table of jobs', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let now: number;
  let jobs: Jobs;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
    now = 1_800_000_000_000;
    jobs = new Jobs(db, { now: () => now, rememberFor: REMEMBER_FOR });
  });
  afterEach(() => {
    db.close();
    place.remove();
  });
  const take = (settings = {}) =>
    jobs.take(1, { leaseFor: 60_000, backoff: () => 1_000, ...settings }, []);
  const isKept = (id: number) =>
    db.prepare('SELECT 1 FROM call_webhooks_jobs WHERE id = ?').all(id).length > 0;

  it('forgets handled events with each hundredth job that is added', async () => {
    await jobs.add(queuedCall('first'));
    const [job] = (await take()).jobs;
    await jobs.complete(job!);
    now += REMEMBER_FOR;
    for (let added = 2; added <= 100; added++) {
      await jobs.add(queuedCall(`call-${String(added)}`));
      expect(isKept(1)).toBe(true);
    }
    await jobs.add(queuedCall('call-101'));
    expect(isKept(1)).toBe(false);
    expect(await jobs.stats()).toMatchObject({ waiting: 100, done: 0 });
  });

  it('says when the next job is due', async () => {
    expect(await take()).toEqual({ jobs: [], nextIn: undefined });
    await jobs.add(queuedCall('call-1'));
    await jobs.add(queuedCall('call-2'));
    const first = await take();
    expect(first).toMatchObject({ jobs: [{ id: 1, attempt: 1 }], nextIn: 0 });
    await jobs.retry(first.jobs[0]!, 5_000, 'no', undefined);
    now += 1_000;
    expect(await take()).toMatchObject({ jobs: [{ id: 2 }], nextIn: 4_000 });
    expect(await take()).toEqual({ jobs: [], nextIn: 4_000 });
  });

  it('keeps the delay of a failed job while the clock goes on', async () => {
    await jobs.add(queuedCall('call-1'));
    const [job] = (await take()).jobs;
    await jobs.retry(job!, HOUR, 'no', undefined);
    expect(await take()).toEqual({ jobs: [], nextIn: HOUR });
  });

  it('knows the event of a discarded job as long as that of a handled one', async () => {
    await jobs.add(queuedCall('call-1', { key: 'event' }));
    const [job] = (await take()).jobs;
    await jobs.moveToDead(job!, 'no');
    expect(await jobs.discardDead(1)).toBe(true);
    now += REMEMBER_FOR - 1;
    await jobs.add(queuedCall('call-1', { key: 'event' }));
    expect(await jobs.stats()).toMatchObject({ waiting: 0, done: 1 });
    now += 1;
    await jobs.add(queuedCall('call-1', { key: 'event' }));
    expect(await jobs.stats()).toMatchObject({ waiting: 1, done: 0 });
  });

  it('wakes workers for jobs that are added or retried by hand', async () => {
    let woken = 0;
    jobs.listeners.add(() => woken++);
    await jobs.add(queuedCall('call-1'));
    expect(woken).toBe(1);
    await jobs.retryDead(1);
    expect(woken).toBe(2);
  });

  it('names its creator when it is refused', () => {
    expect(() => new Jobs(db, { prefix: 'a-b' })).toThrow('sqliteQueue');
    expect(() => new Jobs({} as never, {})).toThrow('Invalid database of sqliteQueue');
  });
});

describe('groups', () => {
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
  const claim = (key: string): Claim => ({
    ...{ webhookId: unique('webhook'), token: unique('token'), key, group: 'call' },
    ...{ replayUntil: Date.now() + 600_000, leaseMs: 60_000 },
  });
  const admitted = { status: 'admitted', attempt: 1 };
  const groupBusy = { status: 'group-busy' };

  it('makes one transaction a call', async () => {
    const store = sqliteStore(db);
    await store.admit(claim('first')); // creates the tables, too
    const exec = jest.spyOn(db, 'exec');
    const transactions = () => exec.mock.calls.filter(([sql]) => sql.startsWith('BEGIN')).length;
    const one = { ...claim('event'), group: 'other' };
    expect(await store.admit(one)).toEqual(admitted);
    expect(transactions()).toBe(1);
    expect(await store.extend('event', one.token, 60_000)).toBe(true);
    expect(await store.complete('event', one.token)).toBe(true);
    expect(transactions()).toBe(3);
  });

  it('keeps a group for a handler of this process when the clock is set forward', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(3_600_000);
    const other = claim('other');
    expect(await store.admit(other)).toEqual(groupBusy);
    expect(await store.complete('event', owner.token)).toBe(true);
    expect(await store.admit(other)).toEqual(admitted);
  });

  it('lets the group of a dead process wait for one lease when the clock is set back', async () => {
    await sqliteStore(db).admit(claim('event'));
    setClock(-3_600_000);
    const store = sqliteStore(db); // of the next process
    expect(await store.admit(claim('other'))).toEqual(groupBusy);
    setClock(-3_600_000 + 60_001);
    expect(await store.admit(claim('other'))).toEqual(admitted);
  });

  it('sweeps groups as it sweeps events', async () => {
    const store = sqliteStore(db);
    await store.admit(claim('event'));
    setClock(86_400_000 + 61_000);
    await sqliteStore(db).admit({ ...claim('other'), group: 'other' });
    expect(db.prepare('SELECT id FROM call_webhooks_groups').all()).toEqual([{ id: 'other' }]);
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

  it('are held until they run out, by their token alone', () => {
    held.take('key', 'token', 7, 1_000);
    expect(held.holds('key', 'token')).toBe(true);
    expect(held.holds('key', 'other')).toBe(false);
    expect(held.holds('other', 'token')).toBe(false);
    jest.advanceTimersByTime(1_001);
    expect(held.holds('key', 'token')).toBe(false);
  });

  it('know the row of their event until they are ended', () => {
    held.take('key', 'token', 7, 1_000);
    expect(held.rowOf('key', 'token')).toBe(7);
    expect(held.rowOf('key', 'other')).toBeUndefined();
    expect(held.rowOf('other', 'token')).toBeUndefined();
    held.end('key', 'token');
    expect(held.rowOf('key', 'token')).toBeUndefined();
  });

  it('are ended by their token alone', () => {
    held.take('key', 'token', 7, 1_000);
    held.end('key', 'other');
    held.end('other', 'token');
    expect(held.holds('key', 'token')).toBe(true);
    held.end('key', 'token');
    expect(held.holds('key', 'token')).toBe(false);
    expect(held.size).toBe(0);
  });

  it('are forgotten once they have run out, and no others are', () => {
    for (let lease = 0; lease < 10; lease++) {
      held.take(`key ${String(lease)}`, 'token', 7, 1_000);
      jest.advanceTimersByTime(300);
    }
    expect(held.size).toBe(4); // 3,000 ms have passed: those of the last 1,000, and one to be swept
    held.take('last', 'token', 7, 1_000);
    expect(held.size).toBe(4);
    expect(['key 7', 'key 8', 'key 9', 'last'].every((key) => held.holds(key, 'token'))).toBe(true);
  });

  it('are swept in the order in which they were taken last', () => {
    held.take('extended', 'token', 7, 1_000);
    held.take('short', 'token', 7, 1_000);
    jest.advanceTimersByTime(900);
    held.take('extended', 'token', 7, 1_000);
    jest.advanceTimersByTime(200);
    held.take('new', 'token', 7, 1_000);
    expect(held.size).toBe(2);
    expect(held.holds('extended', 'token')).toBe(true);
  });
});

describe('a worker that looks for jobs', () => {
  const { test, work } = useQueue();

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
    const [job] = await test.queue.deadLetters();
    await test.queue.retryDead(job!.id);
    await waitFor(async () => (await worker.stats()).done === 1);
  });

  it('logs one line for each outage of the file', async () => {
    const exec = jest.spyOn(test.db, 'exec');
    const looks = () => exec.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
    await test.queue.ping(); // creates the table
    for (let outages = 1; outages <= 2; outages++) {
      test.db.exec('ALTER TABLE call_webhooks_jobs RENAME TO elsewhere');
      if (outages === 1) work(() => undefined);
      const before = looks();
      await waitFor(() => looks() > before + 5);
      test.db.exec('ALTER TABLE elsewhere RENAME TO call_webhooks_jobs');
      await test.queue.enqueue(queuedCall('call-1', { key: `event ${String(outages)}` }));
      await waitFor(() => test.runs.length === outages);
      const failures = test.logger.entries.filter(({ level }) => level === 'error');
      expect(failures).toHaveLength(outages);
      expect(failures.at(-1)).toMatchObject({
        message: expect.stringMatching(/^call-webhooks: the SQLite queue fails: .*no such table/),
        fields: {
          err: { message: expect.stringContaining('no such table') },
          docs: expect.stringContaining('queues.html#sqlite'),
        },
      });
    }
  });
});

describe('a leased job', () => {
  const MAX_ATTEMPTS = 10;
  const of = (taken: Partial<TakenJob>) =>
    leasedJob(
      undefined as never, // only its methods need the table
      {
        ...{ id: 1, token: 'token', attempt: 1, crashes: 0, isLastRun: false },
        ...{ abandonReason: undefined, delivery: {} as TakenJob['delivery'] },
        ...taken,
      },
      { backoff: () => 1, leaseFor: 90, maxRuns: MAX_ATTEMPTS },
    );

  it.each<[string, Partial<TakenJob>, boolean]>([
    ['is run for the first time', {}, false],
    ['is run on its last attempt, though it crashed', { attempt: 10, crashes: 9 }, false],
    ['is run beyond it after three crashes', { attempt: 11, crashes: 3 }, false],
    ['is not run beyond it after four', { attempt: 11, crashes: 4 }, true],
    ['is run after many failures without a crash', { attempt: 11, crashes: 0 }, false],
    ['is run when it was retried by hand', { attempt: 3, isLastRun: true }, false],
    [
      'is not run when each of such runs crashed',
      { attempt: 7, crashes: 4, isLastRun: true },
      true,
    ],
  ])('a job %s', (_what, taken, isAbandoned) => {
    const { abandonReason } = of(taken);
    expect(abandonReason).toEqual(
      isAbandoned ? new Error('Its process died in each of the last attempts (4).') : undefined,
    );
  });

  it('keeps the reason why a job was given up before', () => {
    expect(of({ abandonReason: 'the CRM is down' }).abandonReason).toEqual(
      new Error('the CRM is down'),
    );
  });

  it('knows the last attempt, by number or because it was retried by hand', () => {
    const isLast = (taken: Partial<TakenJob>) => of(taken).isLastAttempt;
    expect(isLast({ attempt: 9 })).toBe(false);
    expect(isLast({ attempt: 10 })).toBe(true);
    expect(isLast({ attempt: 2, isLastRun: true })).toBe(true);
  });

  it('renews a lease after a third of it', () => {
    expect(of({}).extendEvery).toBe(30);
  });
});
