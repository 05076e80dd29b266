import { setImmediate } from 'node:timers';

/** Held here, as the fake timers of a user's tests replace it. */
const schedule = setImmediate;

let waiting: (() => void)[] = [];

/**
 * Runs `task` at the end of this turn of the event loop, one after another with all that the turn
 * brought.
 *
 * Between two requests Node and the kernel push our code out of the CPU's caches. Deliveries that
 * are worked on together find it there: a quarter of their CPU time under load. One that comes
 * alone pays a few microseconds for it (docs/performance.md).
 * @param task settles a promise: it must not throw, and nobody's code may run within it
 */
export function atTurnEnd(task: () => void): void {
  if (waiting.push(task) === 1) schedule(runAll);
}

function runAll(): void {
  const tasks = waiting;
  waiting = [];
  for (const task of tasks) task();
}
