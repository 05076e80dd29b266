import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

const REMEMBER_FOR = 600_000;

describe('what a store has remembered long enough', () => {
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

  const admit = () =>
    store.admit({
      ...{ webhookId: unique('webhook'), token: 'token', key: unique('event') },
      ...{ group: unique('call'), replayUntil: now + 60_000, leaseMs: 60_000 },
    });
  const counts = () =>
    ['ids', 'events', 'groups'].map((table) => {
      const [row] = db.prepare(`SELECT count(*) AS count FROM call_webhooks_${table}`).all();
      return (row as { count: number }).count;
    });

  it('is removed with every 200th claim', async () => {
    await admit();
    now += REMEMBER_FOR + 60_000;
    for (let claims = 2; claims <= 200; claims++) {
      await admit();
      expect(counts()).toEqual([claims, claims, claims]);
    }
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
