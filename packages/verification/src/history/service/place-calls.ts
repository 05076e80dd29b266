import { setTimeout as delay } from 'node:timers/promises';
import type { Simulator } from '@call-webhooks/simulator';
import { monotonicMs } from '../clock.ts';
import { draw } from '../draw.ts';

/** Each is three events, and of these some in several copies. */
const CALLS_A_SECOND = 6;
const EVENTS_OF_A_CALL = 3;

/** Short calls at a steady rate, for so many milliseconds. */
export async function placeCalls(simulator: Simulator, seed: string, ms: number): Promise<void> {
  const start = monotonicMs();
  for (let number = 0; number < (CALLS_A_SECOND * ms) / 1_000; number++) {
    await delay(Math.max(0, start + (number * 1_000) / CALLS_A_SECOND - monotonicMs()));
    simulator.calls.place({ durationSeconds: draw(seed, 'duration', number) });
  }
}

/**
 * Until every event of every call is acknowledged, however long a slow machine takes; or until nothing
 * was for `quietMs`.
 */
export async function allAcknowledged(simulator: Simulator, quietMs: number): Promise<void> {
  let acknowledged = -1;
  let since = monotonicMs();
  while (!isSettled(simulator) && monotonicMs() - since < quietMs) {
    await delay(100);
    const now = simulator.deliveries.counts().acknowledged ?? 0;
    if (now !== acknowledged) since = monotonicMs();
    acknowledged = now;
  }
  // A replay may still be under way.
  await Promise.race([simulator.deliveries.landed(), delay(2_000, undefined, { ref: false })]);
}

function isSettled({ calls, deliveries }: Simulator): boolean {
  const states = deliveries.counts();
  if (states.waiting !== undefined || states['in-flight'] !== undefined) return false;
  // Copies come on top.
  const announced = deliveries.list().filter(({ copyOf }) => copyOf === undefined).length;
  return announced === calls.list().length * EVENTS_OF_A_CALL;
}
