import { randomUUID } from 'node:crypto';
import type { Store } from '@call-webhooks/core';
import { monotonicMs } from './clock.ts';
import type { Journal } from './journal.ts';

const EVERY_MS = 150;
const SLOW_MS = 400;

/**
 * Writes to the engine all the time, and notes when that takes long: a disk that is busy, or a frozen
 * process that holds the lock of a file, lets leases run out although nobody was struck.
 */
export function watchServer(store: Store, journal: Journal): { stop(): void } {
  let stopped = false;
  async function probe(): Promise<void> {
    const at = monotonicMs();
    const claim = { webhookId: randomUUID(), replayUntil: Date.now() + 1_000 };
    try {
      await store.admit({ ...claim, token: 'probe', leaseMs: 1 });
    } catch {
      // it is away: a fault that is known
    }
    const until = monotonicMs();
    if (stopped) return;
    if (until - at > SLOW_MS) journal.write({ kind: 'fault', fault: 'slow', at, until });
    setTimeout(() => void probe(), EVERY_MS);
  }
  void probe();
  return {
    stop() {
      stopped = true;
    },
  };
}
