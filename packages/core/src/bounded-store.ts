import { describeError } from './scrub.ts';
import type { Store } from './store.ts';
import { TimedOut, type Watch } from './watch.ts';
import { WebhookError } from './webhook-error.ts';

/**
 * A store whose calls end in time, whatever its client does: clients of dead servers hang for many
 * seconds by default. A call that timed out may still be applied; the fencing tokens cover that.
 * Every failure is a `WebhookError` `store-unavailable`.
 */
export function boundedStore(store: Store, timeoutMs: number, watch: Watch): Omit<Store, 'close'> {
  // As `watch.within`, in one promise: it stands in the way of every delivery, twice.
  function bounded<T>(call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        watch.delete(wait);
        reject(unavailable(cause));
      };
      const wait = {
        at: performance.now() + timeoutMs,
        wake() {
          fail(new TimedOut(timeoutMs));
        },
      };
      watch.add(wait);
      try {
        Promise.resolve(call()).then((value) => {
          watch.delete(wait);
          resolve(value);
        }, fail);
      } catch (thrown) {
        fail(thrown);
      }
    });
  }
  return {
    admit: (claim) => bounded(() => store.admit(claim)),
    complete: (key, token) => bounded(() => store.complete(key, token)),
    release: (key, token) => bounded(() => store.release(key, token)),
    extend: (key, token, leaseMs) => bounded(() => store.extend(key, token, leaseMs)),
  };
}

const unavailable = (cause: unknown) =>
  new WebhookError('store-unavailable', `The store failed: ${describeError(cause)}`);
