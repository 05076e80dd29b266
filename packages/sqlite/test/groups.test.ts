import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import Database from 'libsql';
import { sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

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
const setClock = (ms: number) => jest.spyOn(Date, 'now').mockImplementation(() => wallClock() + ms);
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
