import type { Clock } from '@call-webhooks/client';
import { waitFor } from '@call-webhooks/contract-tests';
import type { Simulator } from '@call-webhooks/simulator';

/** A clock for reconcilers that shows the time of a simulator. Its timers run when `advance` gets there. */
export interface ManualClock extends Clock {
  /** How many reconcilers use it. */
  reconcilers: number;
  /** Resolves when each reconciler waits for its next run, or to retry a call of the store. */
  settled(): Promise<void>;
  /** Moves the simulator by minutes, and starts what is due. */
  fire(minutes: number): Promise<void>;
  /** Moves the simulator a minute at a time, and runs what is due. A retry of a call comes before the next minute. */
  advance(minutes: number): Promise<void>;
}

/** What limits a call of the store, and the renewal of a lease; milliseconds. */
const CALL_MS = 10_000;
/** How often a lease is renewed, also while a call waits to be retried; milliseconds. */
const RENEW_MS = 20_000;
/** The longest pause before a call of the store is retried; milliseconds. */
const RETRY_MS = 5_000;

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
        const waits = [...timers].filter(({ delay }) => delay !== RENEW_MS);
        return waits.length === clock.reconcilers && waits.every(({ delay }) => delay !== CALL_MS);
      }),
    async fire(minutes) {
      await simulator.clock.advance(minutes * 60_000);
      const due = [...timers].filter(({ at }) => at <= now());
      for (const timer of due) timers.delete(timer);
      for (const { callback } of due) callback();
    },
    async advance(minutes) {
      for (let minute = 0; minute < minutes; minute++) {
        // After a whole minute, the lease would be lost.
        while ([...timers].some(({ delay }) => delay <= RETRY_MS)) {
          await clock.fire(RETRY_MS / 60_000);
          await clock.settled();
        }
        await clock.fire(1);
        await clock.settled();
      }
    },
  };
  return clock;
}
