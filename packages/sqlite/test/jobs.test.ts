import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { Jobs } from '../src/jobs.ts';
import { freshFile } from './support.ts';

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
