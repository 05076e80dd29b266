import { beforeEach, describe, expect, it } from '@jest/globals';
import { queuedCall, twoNamesTest, unique } from '@call-webhooks/contract-tests';
import { type Claim, storableKey } from '@call-webhooks/core/stores';
import { sqliteDeadLetters, sqliteQueue, sqliteStore, type SqliteStore } from '../src/index.ts';
import { useFile } from './support.ts';

const REMEMBER_FOR = 600_000;

describe('a store in a file', () => {
  const test = useFile();
  let now: number;
  let store: SqliteStore;
  beforeEach(() => {
    now = 1_800_000_000_000;
    store = sqliteStore(test.db, { now: () => now, rememberFor: REMEMBER_FOR });
  });

  const claim = (own: Partial<Claim> = {}): Claim => ({
    ...{ webhookId: unique('webhook'), token: unique('token'), key: 'event', group: undefined },
    ...{ replayUntil: now + 60_000, leaseMs: 60_000 },
    ...own,
  });
  const admitted = { status: 'admitted', attempt: 1 };
  const counts = () =>
    ['ids', 'events', 'groups'].map((table) => {
      const [row] = test.db.prepare(`SELECT count(*) AS count FROM call_webhooks_${table}`).all();
      return (row as { count: number }).count;
    });

  twoNamesTest((name) => {
    const prefix = `${name}_`;
    return {
      store: sqliteStore(test.db, { prefix }),
      deadLetters: sqliteDeadLetters(test.db, { prefix }),
    };
  });

  it('keeps the jobs of two prefixes in one file apart', async () => {
    const [one, two] = ['one_', 'two_'].map((prefix) => sqliteQueue(test.db, { prefix }));
    for (const queue of [one!, two!, two!]) await queue.enqueue(queuedCall('call-1'));
    await two!.enqueue(queuedCall('call-2'));
    const stats = { delayed: 0, running: 0, done: 0, dead: 0 };
    expect(await one!.stats()).toEqual({ waiting: 1, ...stats });
    expect(await two!.stats()).toEqual({ waiting: 2, ...stats });
  });

  it('admits an event again that it has forgotten but not removed yet', async () => {
    const first = claim({ group: 'call' });
    await store.admit(first);
    await store.complete('event', first.token);
    now += REMEMBER_FOR + 59_999; // the lease is added
    expect(await store.admit(claim())).toEqual({ status: 'duplicate' });
    now += 1;
    const again = claim({ webhookId: first.webhookId, group: 'call' });
    expect(await store.admit(again)).toEqual(admitted);
    expect(await store.admit(claim())).toEqual({ status: 'in-progress' });
    expect(await store.admit(claim({ key: 'next', group: 'call' }))).toEqual({
      status: 'group-busy',
    });
    expect(await store.complete('event', again.token)).toBe(true);
    expect(await store.admit(claim({ key: 'next', group: 'call' }))).toEqual(admitted);
  });

  it('keeps one row for an event, whatever number of attempts it takes', async () => {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const one = claim();
      expect(await store.admit(one)).toEqual({ status: 'admitted', attempt });
      expect(await store.admit(one)).toEqual({ status: 'admitted', attempt }); // repeated
      expect(await store.release('event', one.token)).toBe(true);
    }
    expect(counts()).toEqual([3, 1, 0]);
  });

  it('stores a name that is too long as core does', async () => {
    const long = 'é'.repeat(1_000);
    await store.admit(claim({ key: long }));
    const [row] = test.db.prepare('SELECT key FROM call_webhooks_events').all();
    expect(row).toMatchObject({ key: await storableKey(long) });
  });

  it('finds what it stored after VACUUM', async () => {
    const claims = ['first', 'second', 'third'].map((key) => claim({ key }));
    for (const one of claims) await store.admit(one);
    test.db.exec('DELETE FROM call_webhooks_ids WHERE rowid = 1');
    test.db.exec('DELETE FROM call_webhooks_events WHERE rowid = 1');
    test.db.exec('VACUUM');
    for (const { key, webhookId } of claims.slice(1)) {
      expect(await store.admit(claim({ key, webhookId }))).toEqual({ status: 'replayed' });
      expect(await store.admit(claim({ key }))).toEqual({ status: 'in-progress' });
    }
  });

  describe('what it has remembered long enough', () => {
    const admit = () => store.admit(claim({ key: unique('event'), group: unique('call') }));

    it('is removed with every 200th claim', async () => {
      await admit();
      now += REMEMBER_FOR + 60_000;
      for (let claims = 2; claims <= 200; claims++) await admit();
      expect(counts()).toEqual([200, 200, 200]);
      await admit();
      expect(counts()).toEqual([200, 200, 200]);
    });

    it('is removed in portions of 500, so that no claim waits long', async () => {
      for (let round = 1; round <= 6; round++)
        await Promise.all(Array.from({ length: 100 }, () => admit()));
      now += REMEMBER_FOR + 60_000;
      await admit();
      expect(counts()).toEqual([101, 101, 101]);
    });
  });
});
