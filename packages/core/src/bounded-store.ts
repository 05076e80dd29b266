import { describeError } from './scrub.ts';
import type { Store } from './store.ts';
import type { Watch } from './watch.ts';
import { WebhookError } from './webhook-error.ts';

/**
 * A store whose calls end in time, whatever its client does: clients of dead servers hang for many
 * seconds by default. A call that timed out may still be applied; the fencing tokens cover that.
 * Every failure is a `WebhookError` `store-unavailable`.
 */
export function boundedStore(store: Store, timeoutMs: number, watch: Watch): Omit<Store, 'close'> {
  async function bounded<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await watch.within(timeoutMs, call());
    } catch (cause) {
      throw new WebhookError('store-unavailable', `The store failed: ${describeError(cause)}`);
    }
  }
  return {
    admit: (claim) => bounded(() => store.admit(claim)),
    complete: (key, token) => bounded(() => store.complete(key, token)),
    release: (key, token) => bounded(() => store.release(key, token)),
    extend: (key, token, leaseMs) => bounded(() => store.extend(key, token, leaseMs)),
  };
}
