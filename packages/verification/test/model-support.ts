import { expect, jest } from '@jest/globals';
import { createReceiver, generateSecret, sign, type Store } from '@call-webhooks/core';
import fc from 'fast-check';
import { lives } from '../src/model/commands.ts';
import type { OutsideStore } from '../src/model/outside-store.ts';
import { World, type Time } from '../src/model/world.ts';

export const seed = Number(process.env.PROOF_SEED ?? 1);
const START = Date.UTC(2026, 0, 1);

/** A store for one life, and how its time is turned. */
export interface Stage {
  readonly store: Store;
  readonly time: Time;
  /** Whether what was seen counts; `false` after a call that was too slow for the clocks. */
  readonly valid?: () => boolean;
}

/** What the lives have to be rich enough to show: a model that sees nothing proves nothing. */
const SEEN = [
  'handled',
  'duplicate',
  'dead-lettered',
  'replayed',
  'handler-failed',
  'in-progress',
  'deadline',
  'store-unavailable',
  'shutting-down',
  'timestamp-out-of-tolerance',
  'a retry',
  'a lease that ran out, and was taken over',
];

/** Schemas are loaded when first needed, which turned time would not wait for. */
export async function warmUp(): Promise<void> {
  const secret = generateSecret();
  const body = Buffer.from('{"eventName":"call:completed","callId":"warm-up"}');
  const receiver = createReceiver({ secret, on: { 'call:completed': () => undefined } });
  await receiver.receive({ headers: await sign({ secret, body }), body });
}

/** `setImmediate` and `nextTick` stay real: a store outside has to get through. `hrtime` measures. */
export const turnTime = () =>
  void jest.useFakeTimers({ now: START, doNotFake: ['setImmediate', 'nextTick', 'hrtime'] });

/** Leads lives of machines on such a store, and holds them against the model. */
export async function leadLives(name: string, runs: number, stage: () => Promise<Stage> | Stage) {
  const counts = new Map<string, number>();
  let invalid = 0;
  const since = process.hrtime.bigint();
  await fc.assert(
    fc.asyncProperty(lives(40), async (commands) => {
      jest.clearAllTimers();
      const { store, time, valid = () => true } = await stage();
      const world = new World(store, time);
      try {
        await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
      } catch (error) {
        if (valid()) throw error;
        invalid++;
        return;
      }
      for (const [what, count] of world.ledger.counts)
        counts.set(what, (counts.get(what) ?? 0) + count);
    }),
    { seed, numRuns: runs },
  );
  const ms = Number(process.hrtime.bigint() - since) / 1e6;
  console.info(
    `${name}: ${String(runs)} lives, seed ${String(seed)}, ${ms.toFixed(0)} ms, ${String(invalid)} not counted; ${JSON.stringify(Object.fromEntries(counts))}`,
  );
  expect(SEEN.filter((what) => !counts.has(what))).toEqual([]);
  expect(invalid).toBeLessThanOrEqual(runs / 10);
}

/**
 * The time of a store that answers in real time: the turned clock stands still while a call is under
 * way, and goes from timer to timer.
 * @param options.moreMs by how much each step is longer, so that none ends at the very end of a lease
 */
export function timeOutside(store: OutsideStore, { moreMs = 0 } = {}): Time {
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
