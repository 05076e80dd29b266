import { randomUUID } from 'node:crypto';
import type { Store } from '@call-webhooks/core';
import { LEASE_MS } from './engines/engine.ts';
import { monotonicMs, type Journal } from './journal.ts';

// They journal what nobody injected, but what can still make a lease expire under a healthy process.

/**
 * A delay that is not journaled is shorter; milliseconds. A lease is renewed when a third of it has passed.
 * It runs out before if the claim's answer, the timer and the renewal are late by two thirds in all, so one
 * of the three has to be noticed.
 */
export const NOTICED_MS = LEASE_MS / 5;

const STALL_CHECK_MS = 100;
/** A process tells its parent that it is alive once in as many checks. */
const CHECKS_PER_BEAT = 5;

/** Sent to the parent: this process ran at this time of the journal's clock. */
export interface Beat {
  aliveAt: number;
}

/** Journals when this process gets no CPU time, as on an overloaded machine, and tells the parent when it does. */
export function monitorStalls(journal: Journal): void {
  let last = monotonicMs();
  let checks = 0;
  setInterval(() => {
    const at = monotonicMs();
    if (at - last > NOTICED_MS)
      journal.write({ kind: 'fault', fault: 'stall', pid: process.pid, at: last, until: at });
    last = at;
    if (checks++ % CHECKS_PER_BEAT === 0 && process.connected)
      process.send?.({ aliveAt: at } satisfies Beat, undefined, undefined, () => undefined);
  }, STALL_CHECK_MS);
}

/** Milliseconds between two signs of life that the parent gets. */
export const BEAT_MS = STALL_CHECK_MS * CHECKS_PER_BEAT;

const PROBE_EVERY_MS = 150;
/** The wall clock moves against the monotonic one by less unless it is set; milliseconds. */
const CLOCK_STEP_MS = 50;

/**
 * Writes to the engine all the time, and journals slow writes: a busy disk, or a locked file. It journals as
 * well when the wall clock was set.
 */
export function probeEngine(store: Store, journal: Journal): { stop(): void } {
  let stopped = false;
  let clock = { at: monotonicMs(), wall: Date.now() };
  async function probe(): Promise<void> {
    const at = monotonicMs();
    const claim = { webhookId: randomUUID(), replayUntil: Date.now() + 1_000 };
    try {
      await store.admit({ ...claim, token: 'probe', leaseMs: 1 });
    } catch {
      // The server is down: that fault is journaled where it is injected.
    }
    const until = monotonicMs();
    if (stopped) return;
    if (until - at > NOTICED_MS) journal.write({ kind: 'fault', fault: 'slow', at, until });
    checkClock();
    setTimeout(() => void probe(), PROBE_EVERY_MS);
  }
  function checkClock(): void {
    const now = { at: monotonicMs(), wall: Date.now() };
    const step = now.wall - clock.wall - (now.at - clock.at);
    if (Math.abs(step) > CLOCK_STEP_MS)
      journal.write({ kind: 'fault', fault: 'clock', at: clock.at, until: now.at });
    clock = now;
  }
  void probe();
  return {
    stop() {
      stopped = true;
    },
  };
}
