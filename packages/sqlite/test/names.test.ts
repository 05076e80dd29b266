import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { hash53, storableKey, type Claim } from '@call-webhooks/core';
import { unique } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

const REMEMBER_FOR = 600_000;

let place: ReturnType<typeof freshFile>;
let db: InstanceType<typeof Database>;
let now: number;
let store: ReturnType<typeof sqliteStore>;
beforeEach(() => {
  place = freshFile();
  db = new Database(place.file);
  now = 1_800_000_000_000;
  store = sqliteStore(db, { now: () => now, rememberFor: REMEMBER_FOR });
});
afterEach(() => {
  db.close();
  place.remove();
});

const claim = (own: Partial<Claim> = {}): Claim => ({
  ...{ webhookId: unique('webhook'), token: unique('token'), key: 'event', group: undefined },
  ...{ replayUntil: now + 60_000, leaseMs: 60_000 },
  ...own,
});
const admitted = { status: 'admitted', attempt: 1 };
const rows = (table: string) =>
  db.prepare(`SELECT count(*) AS count FROM call_webhooks_${table}`).all() as { count: number }[];

/** What has the hash of another name, and is handled. */
async function addOthers({ webhookId, key = '' }: Claim): Promise<void> {
  await store.ping?.(); // creates the tables
  db.prepare('INSERT INTO call_webhooks_ids (hash, id, token, keep_until) VALUES (?, ?, ?, ?)').run(
    ...[hash53(webhookId), 'other id', 'other token', now + 60_000],
  );
  db.prepare(
    'INSERT INTO call_webhooks_events (hash, key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, ?, 1, 1, 0, ?)',
  ).run(hash53(key), 'other event', 'other token', now + REMEMBER_FOR);
}

it('tells names with the same hash apart', async () => {
  const own = claim();
  await addOthers(own);
  expect(await store.admit(own)).toEqual(admitted);
  expect(await store.complete('event', own.token)).toBe(true);
  expect(await store.admit(claim())).toEqual({ status: 'duplicate' });
  expect(await store.admit(claim({ webhookId: own.webhookId }))).toEqual({ status: 'replayed' });
});

it('completes in a transaction only the event with this very key', async () => {
  const own = claim();
  await addOthers(own);
  db.exec(`UPDATE call_webhooks_events SET token = '${own.token}', done = 0, lease_until = 9e15`);
  db.exec('BEGIN');
  expect(store.completeIn(db, 'event', own.token)).toBe(false);
  db.exec('COMMIT');
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
  expect(rows('events')).toEqual([{ count: 2 }]); // the old one goes with the next sweep
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
    expect(await store.release('event', one.token)).toBe(true);
  }
  expect(rows('events')).toEqual([{ count: 1 }]);
  expect(rows('ids')).toEqual([{ count: 3 }]);
});

it('keeps one row for a webhook id whose claim is repeated', async () => {
  const own = claim();
  await store.admit(own);
  expect(await store.admit(own)).toEqual(admitted);
  expect(rows('ids')).toEqual([{ count: 1 }]);
});

it('stores a name that is too long as core does', async () => {
  const long = 'é'.repeat(1_000);
  await store.admit(claim({ key: long }));
  const [row] = db.prepare('SELECT key FROM call_webhooks_events').all();
  expect(row).toMatchObject({ key: await storableKey(long) });
});

it('keeps a cursor, replaces and removes it', async () => {
  expect(await store.loadCursor?.('catch-up')).toBeUndefined();
  for (const cursor of ['first', 'second']) {
    await store.saveCursor?.('catch-up', cursor);
    expect(await store.loadCursor?.('catch-up')).toBe(cursor);
  }
  await store.saveCursor?.('catch-up', undefined);
  expect(await store.loadCursor?.('catch-up')).toBeUndefined();
});
