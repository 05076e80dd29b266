import { afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import Database from 'libsql';
import fc from 'fast-check';
import { queueScenarios } from '../src/queue-model/queue-commands.ts';
import { QueueWorld, type QueueTime } from '../src/queue-model/queue-world.ts';
import { report, seed, useFakeClock, warmUp } from './model-scenarios.ts';

const runs = Number(process.env.QUEUE_MODEL_RUNS ?? 15);

/** What the scenarios must contain together; otherwise they would show too little. */
const MUST_OCCUR = [
  'a duplicate',
  'a handler that succeeded',
  'a handler that failed',
  'a handler that ended after its lease',
  'a sink that failed',
  'a call of the sink alone',
  'a dead letter',
  'a manual retry',
  'a discarded job',
  'a job whose process died',
  'a takeover',
  'a step of the wall clock',
  'two runs at once',
  'a close with running handlers',
];

const time: QueueTime = {
  async advance(ms, rest) {
    const end = { isReached: false };
    setTimeout(() => (end.isReached = true), ms);
    await rest();
    while (!end.isReached) {
      jest.advanceTimersToNextTimer();
      await rest();
    }
  },
  setWallClock(now) {
    jest.setSystemTime(now);
  },
};

beforeAll(warmUp);
beforeEach(() => {
  useFakeClock();
  jest.spyOn(Math, 'random').mockReturnValue(0.5); // the backoff is the same in each run
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

test('the SQLite queue and its worker do what the model allows', async () => {
  const counts = new Map<string, number>();
  const since = process.hrtime.bigint();
  await fc.assert(
    fc.asyncProperty(queueScenarios(40), async (commands) => {
      jest.clearAllTimers();
      const db = new Database(':memory:');
      const world = new QueueWorld(db, time);
      await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
      await world.drain();
      db.close();
      for (const [what, count] of world.counts) counts.set(what, (counts.get(what) ?? 0) + count);
    }),
    { seed, numRuns: runs },
  );
  const ms = Number(process.hrtime.bigint() - since) / 1e6;
  report(
    `the SQLite queue: ${String(runs)} scenarios, seed ${String(seed)}, ${ms.toFixed(0)} ms; ${JSON.stringify(Object.fromEntries(counts))}`,
  );
  expect(MUST_OCCUR.filter((what) => !counts.has(what))).toEqual([]);
}, 300_000);
