import { expect, jest } from '@jest/globals';
import { createReceiver, generateSecret, sign, type Store } from '@call-webhooks/core';
import fc from 'fast-check';
import { scenarios } from '../src/model/commands.ts';
import { TRANSACTION_ENDS, type EffectsTable } from '../src/model/transactions.ts';
import type { RealTimeStore } from '../src/model/real-time-store.ts';
import { World, type FakeTime } from '../src/model/world.ts';

export const seed = Number(process.env.SEED ?? 1);

/** Prints what a run contained, for `npm run model` and the like. */
export function report(text: string): void {
  if (process.env.REPORT === '1') console.info(text);
}

const START = Date.UTC(2026, 0, 1);

/** The store of one scenario, and its clock. */
export interface ScenarioSetup {
  readonly store: Store;
  readonly time: FakeTime;
  /** Where all handlers have their effects, with `completeIn`. */
  readonly effects?: EffectsTable;
  /** Whether a failure counts. It does not after a call that was too slow for the two clocks. */
  readonly valid?: () => boolean;
}

/** The same for scenarios with `oneAtATime`. */
const MUST_OCCUR_IN_GROUPS = [
  'a wait for a group',
  'handled after a wait',
  'in-progress after a wait',
  'duplicate after a wait',
  'shutting-down after a wait',
];

/** The scenarios with tenants have to show less: the others show the rest. */
const MUST_OCCUR_WITH_TENANTS = [
  'equal events of two tenants, both handled',
  'a request at the wrong tenant',
  'signature-mismatch',
  'handled',
  'duplicate',
  'dead-lettered',
  'replayed',
  'in-progress',
];

/** What the scenarios must contain together; otherwise they would show too little. */
const MUST_OCCUR = [
  'handled',
  'duplicate',
  'dead-lettered',
  'in-dead-letters',
  'replayed',
  'handler-failed',
  'in-progress',
  'deadline',
  'store-unavailable',
  'shutting-down',
  'timestamp-out-of-tolerance',
  'a retry',
  'an expired lease that was taken over',
  'a dead-letter sink that failed',
];

/** Schemas are loaded when they are first needed, and the fake clock would not wait for that. */
export async function warmUp(): Promise<void> {
  const secret = generateSecret();
  const body = Buffer.from('{"eventName":"call:completed","callId":"warm-up"}');
  const receiver = createReceiver({ secret, on: { 'call:completed': () => undefined } });
  await receiver.receive({ headers: await sign({ secret, body }), body });
}

/** `setImmediate` and `nextTick` stay real, so that a real store can reply; `hrtime` measures real time. */
export const useFakeClock = () =>
  void jest.useFakeTimers({ now: START, doNotFake: ['setImmediate', 'nextTick', 'hrtime'] });

/** Runs random scenarios on such a store, and checks them against the model. */
export async function checkScenarios(
  name: string,
  runs: number,
  setUp: () => Promise<ScenarioSetup> | ScenarioSetup,
  { oneAtATime = false, transactions = false, hasTenants = false } = {},
) {
  const counts = new Map<string, number>();
  let invalid = 0;
  const since = process.hrtime.bigint();
  const random = jest.spyOn(Math, 'random').mockReturnValue(0.5); // a backoff is the same in each run
  const sorts = { contention: oneAtATime, transactions, hasTenants };
  await fc.assert(
    fc.asyncProperty(scenarios(40, sorts), async (commands) => {
      jest.clearAllTimers();
      const { store, time, effects, valid = () => true } = await setUp();
      const world = new World(store, time, { oneAtATime, hasTenants }, effects);
      try {
        await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
      } catch (error) {
        if (valid()) throw error;
        invalid++;
        return;
      }
      const [, ofOne = '', , ofOther] = world.service.keys;
      if (ofOther !== undefined && [ofOne, ofOther].every((key) => world.log.hasEffect(key)))
        world.log.note('equal events of two tenants, both handled');
      for (const [what, count] of world.log.counts)
        counts.set(what, (counts.get(what) ?? 0) + count);
    }),
    { seed, numRuns: runs },
  );
  random.mockRestore();
  const ms = Number(process.hrtime.bigint() - since) / 1e6;
  report(
    `${name}: ${String(runs)} scenarios, seed ${String(seed)}, ${ms.toFixed(0)} ms, ${String(invalid)} not counted; ${JSON.stringify(Object.fromEntries(counts))}`,
  );
  const required = [
    ...(hasTenants ? MUST_OCCUR_WITH_TENANTS : MUST_OCCUR),
    ...(oneAtATime ? MUST_OCCUR_IN_GROUPS : []),
    ...(transactions ? TRANSACTION_ENDS.map((end) => `a transaction: ${end}`) : []),
  ];
  expect(required.filter((what) => !counts.has(what))).toEqual([]);
  expect(invalid).toBeLessThanOrEqual(runs / 10);
  return counts;
}

/**
 * The fake time of a store whose calls take real time. The clock stands still during a call, and
 * advances from timer to timer.
 * @param options.moreMs added to each step, so that none ends exactly when a lease does
 */
export function timeOf(store: RealTimeStore, { moreMs = 0 } = {}): FakeTime {
  const rest = async () => {
    for (let quiet = 0; quiet < 2; quiet = store.idle ? quiet + 1 : 0)
      await new Promise(setImmediate);
  };
  return {
    async advance(ms) {
      const end = { reached: false };
      setTimeout(() => (end.reached = true), ms === 0 ? 0 : ms + moreMs);
      await rest();
      while (!end.reached) {
        await jest.advanceTimersToNextTimerAsync();
        await rest();
      }
      await jest.advanceTimersByTimeAsync(0);
      await rest();
    },
  };
}
