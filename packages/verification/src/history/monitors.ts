import { randomUUID } from 'node:crypto';
import type { Store } from '@call-webhooks/core';
import { monotonicMs, type Journal } from './journal.ts';

// Both journal what nobody injected, but what can still make a lease expire under a healthy process.

const STALL_CHECK_MS = 100;
const STALL_MS = 400;

/** Journals when this process gets no CPU time, as on an overloaded machine. */
export function monitorStalls(journal: Journal): void {
  let last = monotonicMs();
  setInterval(() => {
    const at = monotonicMs();
    if (at - last > STALL_CHECK_MS + STALL_MS)
      journal.write({ kind: 'fault', fault: 'stall', pid: process.pid, at: last, until: at });
    last = at;
  }, STALL_CHECK_MS);
}

const PROBE_EVERY_MS = 150;
const SLOW_PROBE_MS = 400;

/** Writes to the engine all the time, and journals slow writes: a busy disk, or a locked file. */
export function probeEngine(store: Store, journal: Journal): { stop(): void } {
  let stopped = false;
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
    if (until - at > SLOW_PROBE_MS) journal.write({ kind: 'fault', fault: 'slow', at, until });
    setTimeout(() => void probe(), PROBE_EVERY_MS);
  }
  void probe();
  return {
    stop() {
      stopped = true;
    },
  };
}
