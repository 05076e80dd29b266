import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger, queuedCall, unique } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, type Receiver, sign } from '@call-webhooks/core';
import Database from 'libsql';
import { type SqliteDatabase, sqliteQueue, sqliteStore } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

describe('trouble', () => {
  eachClient(({ name, open }) => {
    describe(`a receiver in trouble with its file, on ${name}`, () => {
      let place: ReturnType<typeof freshFile>;
      let db: SqliteDatabase & { close(): unknown };
      let other: typeof db;
      let receiver: Receiver;
      let runs: string[];
      const secret = generateSecret();

      beforeEach(() => {
        place = freshFile();
        db = open(place.file);
        other = open(place.file);
        runs = [];
        receiver = createReceiver({
          secret,
          store: sqliteStore(db),
          logger: collectingLogger(),
          on: { 'call:completed': ({ callId }) => void runs.push(String(callId)) },
        });
      });
      afterEach(async () => {
        await receiver.close();
        db.close();
        other.close();
        place.remove();
      });

      async function deliver(callId: string) {
        const body = new TextEncoder().encode(callBody(callId));
        const { outcome } = await receiver.receive({ headers: await sign({ secret, body }), body });
        return outcome.outcome;
      }

      it('keeps a write-ahead log that is synced with each commit', async () => {
        await deliver('call-1');
        expect(db.prepare('PRAGMA journal_mode').all()).toEqual([
          expect.objectContaining({ journal_mode: 'wal' }),
        ]);
        expect(db.prepare('PRAGMA synchronous').all()).toEqual([
          expect.objectContaining({ synchronous: 2 }),
        ]);
      });

      it('answers 503 while somebody holds the lock, lets the process go on, and works afterwards', async () => {
        await deliver('call-0');
        for (const lock of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']) {
          other.exec(lock);
          let turns = 0;
          const pulse = setInterval(() => turns++, 5);
          const answers = await Promise.all(['call-1', 'call-2', 'call-3'].map(deliver));
          clearInterval(pulse);
          expect(answers).toEqual(Array(3).fill('store-unavailable'));
          expect(turns).toBeGreaterThan(3); // the process was not blocked while the store waited
          other.exec('ROLLBACK');
        }
        expect(runs).toEqual(['call-0']);
        expect(await deliver('call-1')).toBe('handled');
        expect(await deliver('call-1')).toBe('duplicate');
      });

      it('is locked from the start, and works when the lock is gone', async () => {
        other.exec('BEGIN EXCLUSIVE');
        expect(await deliver('call-1')).toBe('store-unavailable');
        other.exec('COMMIT');
        expect(await deliver('call-1')).toBe('handled');
      });

      it('answers 503 while the disk is full, and works when there is room', async () => {
        await deliver('call-0');
        const queue = sqliteQueue(db);
        await queue.enqueue(queuedCall('queued-0'));
        const [size] = db.prepare('PRAGMA page_count').all() as { page_count: number }[];
        db.exec(`PRAGMA max_page_count = ${String(size!.page_count)}`);
        const outcomes: string[] = [];
        for (let number = 1; number <= 60; number++)
          outcomes.push(await deliver(`call-${String(number)}`));
        expect(outcomes.at(-1)).toBe('store-unavailable');
        expect(runs).toHaveLength(1 + outcomes.filter((outcome) => outcome === 'handled').length);
        const large = queuedCall('large', { body: 'x'.repeat(100_000) });
        await expect(queue.enqueue(large)).rejects.toThrow(/full/);

        db.exec('PRAGMA max_page_count = 1000000');
        for (let number = 1; number <= 60; number++) {
          const first = outcomes[number - 1] === 'handled' ? 'duplicate' : 'handled';
          expect(await deliver(`call-${String(number)}`)).toBe(first);
        }
        expect(new Set(runs).size).toBe(61);
        expect(runs).toHaveLength(61);
        await queue.enqueue(large);
        expect(await queue.stats()).toMatchObject({ waiting: 2 });
      });

      it('says what it wants in place of a handle', () => {
        expect(() => sqliteStore({} as never)).toThrow(
          'better-sqlite3, libsql, node:sqlite or bun:sqlite',
        );
        expect(() => sqliteStore(db, { prefix: 'a-b' })).toThrow('prefix: expected');
      });
    });
  });
});

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
