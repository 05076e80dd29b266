import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { RealTimeStore } from '../src/model/real-time-store.ts';
import type { EffectsTable } from '../src/model/transactions.ts';
import type { FakeTime } from '../src/model/world.ts';
import { checkScenarios, timeOf, useFakeClock, warmUp } from './model-scenarios.ts';

const runs = Number(process.env.MODEL_RUNS ?? 200);

beforeAll(warmUp);
beforeEach(useFakeClock);
afterEach(() => void jest.useRealTimers());

/** Advances the clock, and gives the store some turns of the event loop to reply. */
const timeWithin = (turns: number): FakeTime => ({
  async advance(ms) {
    await jest.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  },
});

/** Transactions on the handle of a store, which await nothing. */
function effectsIn(db: InstanceType<typeof Database>): EffectsTable {
  db.exec('CREATE TABLE effects (key TEXT)');
  const count = db.prepare('SELECT count(*) AS count FROM effects WHERE key = ?');
  return {
    transact(key, work, commit) {
      db.exec('BEGIN IMMEDIATE');
      try {
        db.prepare('INSERT INTO effects VALUES (?)').run(key);
        work(db);
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
      db.exec(commit ? 'COMMIT' : 'ROLLBACK');
    },
    count: (key) => (count.get(key) as { count: number }).count,
  };
}

test('with completeIn, each event has one effect if it is done, and none otherwise', async () => {
  const setUp = () => {
    const db = new Database(':memory:');
    const store = new RealTimeStore(sqliteStore(db, { now: Date.now }));
    return { store, time: timeOf(store), effects: effectsIn(db) };
  };
  await checkScenarios('completeIn', Math.ceil(runs / 2), setUp, { transactions: true });
}, 240_000);

test('with two tenants, equal calls of both run, and no secret opens the other one', async () => {
  const setUp = () => ({ store: memoryStore(), time: timeWithin(0) });
  await checkScenarios('two tenants', Math.ceil(runs / 2), setUp, { hasTenants: true });
}, 240_000);

describe.each([{ oneAtATime: false }, { oneAtATime: true }])('%j', (options) => {
  // Its leases go by the monotonic clock, so the wall clock may be set.
  test('with the memory store, the receiver does what the model allows', async () => {
    const setWallClock = (now: number) => {
      jest.setSystemTime(now);
    };
    const setUp = () => ({ store: memoryStore(), time: { ...timeWithin(0), setWallClock } });
    const counts = await checkScenarios('the memory store', runs, setUp, options);
    expect(counts.get('a step of the wall clock')).toBeGreaterThan(0);
  }, 240_000);

  test('with the SQLite store, the receiver does what the model allows', async () => {
    const setUp = () => {
      const store = sqliteStore(new Database(':memory:'), { now: Date.now });
      if (!options.oneAtATime) return { store, time: timeWithin(6) };
      const counted = new RealTimeStore(store);
      return { store: counted, time: timeOf(counted) };
    };
    // From timer to timer, which takes its time.
    const fewer = options.oneAtATime ? Math.max(20, Math.ceil(runs / 4)) : runs;
    await checkScenarios('the SQLite store', fewer, setUp, options);
  }, 240_000);
});
