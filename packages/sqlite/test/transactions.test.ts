import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import { sqliteQueue, sqliteStore, type SqliteQueue, type SqliteStore } from '../src/index.ts';
import { useFile } from './support.ts';

const BUSY_FOR = 800;
let callNumber = 0;

describe('the transactions of a handle', () => {
  const test = useFile();
  let store: SqliteStore;
  let queue: SqliteQueue;
  /** How many transactions began, or found the file locked. */
  let begun: number;
  /** Which of them find it locked. */
  let locked: number[];
  beforeEach(() => {
    begun = 0;
    locked = [];
    const exec = (sql: string) => {
      if (sql === 'BEGIN IMMEDIATE' && locked.includes(++begun))
        throw new Error('database is locked');
      return test.db.exec(sql);
    };
    const handle = { exec, prepare: (sql: string) => test.db.prepare(sql) };
    store = sqliteStore(handle);
    queue = sqliteQueue(handle);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const claim = (key: string, leaseMs = 60_000) => ({
    ...{ webhookId: `webhook ${String(callNumber++)}`, replayUntil: Date.now() + 600_000 },
    ...{ token: key, key, leaseMs },
  });
  const names = () =>
    (
      test.db.prepare('SELECT key FROM call_webhooks_events ORDER BY rowid').all() as {
        key: string;
      }[]
    ).map(({ key }) => key);
  const setting = (name: string) =>
    Object.values(test.db.prepare(`PRAGMA ${name}`).all()[0] as Record<string, unknown>)[0];

  it.each([
    { set: -2_000, then: -16_000, why: "SQLite's default" },
    { set: 500, then: -16_000, why: 'too few pages' },
    { set: -16_001, then: -16_001, why: 'more' },
    { set: 4_001, then: 4_001, why: 'more pages' },
  ])('have a page cache of 16 MB, or of what the user set: $why', async ({ set, then }) => {
    test.db.exec(`PRAGMA cache_size = ${String(set)}`);
    await store.ping?.();
    expect(setting('cache_size')).toBe(then);
  });

  it('sync each commit, and wait for locks without blocking the process', async () => {
    test.db.exec('PRAGMA synchronous = OFF');
    test.db.exec('PRAGMA busy_timeout = 5000');
    await queue.enqueue(queuedCall('call-1'));
    expect(setting('journal_mode')).toBe('wal');
    expect(setting('synchronous')).toBe(2);
    expect(setting('busy_timeout')).toBe(5);
    expect(setting('wal_autocheckpoint')).toBe(4_000);
  });

  it('are shared by the calls of one turn', async () => {
    await store.ping?.();
    begun = 0;
    await Promise.all(['first', 'second', 'third'].map((key) => store.admit(claim(key))));
    expect(begun).toBe(1);
    await store.admit({ ...claim('fourth'), group: 'call' });
    expect(begun).toBe(2);
  });

  it('wait while the file is locked, in the order in which they were called', async () => {
    locked = [1, 2];
    const first = store.admit(claim('first'));
    await new Promise(setImmediate); // the first one has found the lock by now
    await Promise.all([first, store.admit(claim('second'))]);
    expect(names()).toEqual(['first', 'second']);
  });

  it('fail when the file stays locked, and then nothing was changed', async () => {
    await store.ping?.();
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    locked = [begun + 1];
    const late = store.admit(claim('late'));
    clock.mockReturnValue(now + 1);
    const next = store.admit(claim('next'));
    clock.mockReturnValue(now + BUSY_FOR);
    await expect(late).rejects.toThrow('database is locked');
    await next;
    expect(names()).toEqual(['next']);
  });

  it('fail alone, though others of the same turn wait for the lock again', async () => {
    await store.ping?.();
    begun = 0;
    locked = [3]; // after the one of both, and the one of the first
    const failing = store.admit(claim('failing', NaN));
    const other = store.admit(claim('other'));
    await expect(failing).rejects.toThrow('NOT NULL constraint failed');
    await other;
    expect(names()).toEqual(['other']);
    expect(begun).toBe(4);
  });

  it('are not repeated for a call that fails alone', async () => {
    await store.ping?.();
    begun = 0;
    await expect(store.admit(claim('failing', NaN))).rejects.toThrow('NOT NULL');
    expect(begun).toBe(1);
  });

  it('leave no transaction behind when the tables can not be created', async () => {
    test.db.exec('CREATE VIEW call_webhooks_schema AS SELECT 1');
    await expect(store.ping?.()).rejects.toThrow();
    test.db.exec('BEGIN');
    test.db.exec('ROLLBACK');
  });
});
