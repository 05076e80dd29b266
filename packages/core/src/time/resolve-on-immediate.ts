import { setImmediate } from 'node:timers';

/** Bounds the bodies that wait: one connection can deliver many requests in one turn. */
const MAX_WAITING = 64;
/** Kept here because the fake timers of a user's tests replace the global one. */
const onImmediate = setImmediate;

let waiting = 0;

/**
 * Resolves a promise in the next `setImmediate` phase, together with others of the same turn of the
 * event loop, or at once when many are waiting already.
 *
 * Reading from sockets evicts our code from the CPU caches. Deliveries that are processed one after
 * another find it there (decision 10).
 */
export function resolveOnImmediate<Value>(resolve: (value: Value) => void, value: Value): void {
  if (waiting === MAX_WAITING) {
    resolve(value);
    return;
  }
  waiting += 1;
  onImmediate(() => {
    waiting -= 1;
    resolve(value);
  });
}
