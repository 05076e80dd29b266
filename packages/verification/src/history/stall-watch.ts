import { monotonicMs } from './clock.ts';
import type { Journal } from './journal.ts';

const EVERY_MS = 100;
const STALL_MS = 400;

/** Writes down when this process had no time to run, as on a machine with more to do than it can. */
export function watchStalls(journal: Journal): void {
  let last = monotonicMs();
  setInterval(() => {
    const at = monotonicMs();
    if (at - last > EVERY_MS + STALL_MS)
      journal.write({ kind: 'fault', fault: 'stall', pid: process.pid, at: last, until: at });
    last = at;
  }, EVERY_MS);
}
