import { setImmediate } from 'node:timers';

/** So many at a time are enough for the gain, and the first answers do not wait for a whole crowd. */
const TOGETHER = 16;
/** Held here, as the fake timers of a user's tests replace it. */
const schedule = setImmediate;

let waiting: (() => void)[] = [];

/**
 * Runs `task` at the end of this turn of the event loop, one after another with others that the turn
 * brought.
 *
 * Between two requests Node and the kernel push our code out of the processor's caches. Deliveries
 * that are worked on together find it there (decision 10).
 * @param task settles a promise: it must not throw, and no code of a user may run within it
 */
export function atTurnEnd(task: () => void): void {
  if (waiting.push(task) === 1) schedule(runSome);
}

function runSome(): void {
  const tasks = waiting;
  waiting = tasks.splice(TOGETHER);
  if (waiting.length > 0) schedule(runSome);
  for (const task of tasks) task();
}
