import { setImmediate } from 'node:timers';

/** A flood down one connection comes in one turn as well, and must not fill the memory. */
const MOST_WAITING = 64;
/** Held here, as the fake timers of a user's tests replace it. */
const atEnd = setImmediate;

let waiting = 0;

/**
 * Settles a promise at the end of this turn of the event loop, right after others of the same turn;
 * or at once, when many wait already.
 *
 * Between two requests Node and the kernel push our code out of the processor's caches. Deliveries
 * that are worked on one after another find it there (decision 10).
 */
export function settleAtTurnEnd<Value>(resolve: (value: Value) => void, value: Value): void {
  if (waiting === MOST_WAITING) {
    resolve(value);
    return;
  }
  waiting += 1;
  atEnd(() => {
    waiting -= 1;
    resolve(value);
  });
}
