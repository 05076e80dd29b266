import type { Clock } from '@call-webhooks/client';
import { waitFor } from '@call-webhooks/contract-tests';
import type { Simulator } from '@call-webhooks/simulator';

/** A clock for reconcilers that shows the time of a simulator. Its timers run when `advance` gets there. */
export interface ManualClock extends Clock {
  /** How many reconcilers use it. */
  reconcilers: number;
  /** Resolves when each reconciler waits for its next run. */
  settled(): Promise<void>;
  /** Moves the simulator by minutes, and starts what is due. */
  fire(minutes: number): Promise<void>;
  /** Moves the simulator a minute at a time, and runs what is due. */
  advance(minutes: number): Promise<void>;
}

/** While a reconciler runs, a timer limits a call of the store or renews its lease; milliseconds. */
const BUSY: readonly number[] = [10_000, 20_000];

/** @param aheadMs how far it is ahead of the simulator; milliseconds */
export function manualClock(simulator: Simulator, aheadMs = 0): ManualClock {
  const timers = new Set<{ at: number; delay: number; callback: () => void }>();
  const now = () => simulator.clock.now() + aheadMs;
  const clock: ManualClock = {
    reconcilers: 1,
    now,
    schedule(delay, callback) {
      const timer = { at: now() + delay, delay, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    settled: () =>
      waitFor(() => {
        const all = [...timers];
        return all.length === clock.reconcilers && all.every(({ delay }) => !BUSY.includes(delay));
      }),
    async fire(minutes) {
      await simulator.clock.advance(minutes * 60_000);
      const due = [...timers].filter(({ at }) => at <= now());
      for (const timer of due) timers.delete(timer);
      for (const { callback } of due) callback();
    },
    async advance(minutes) {
      for (let minute = 0; minute < minutes; minute++) {
        await clock.fire(1);
        await clock.settled();
      }
    },
  };
  return clock;
}
