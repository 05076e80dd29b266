import { describeError } from './scrub.ts';
import type { Admission, Claim, Store } from './store.ts';
import type { Watch } from './watch.ts';
import { WebhookError } from './webhook-error.ts';

/**
 * A store whose calls end in time, whatever its client does: clients of dead servers hang for many
 * seconds by default. A call that timed out may still be applied; the fencing tokens cover that.
 * Every failure is a `WebhookError` `store-unavailable`.
 */
export function boundedStore(
  store: Store,
  timeoutMs: number,
  watch: Watch,
): Omit<Store, 'ping' | 'close'> {
  async function bounded<T>(call: () => Promise<T>, onLate?: (late: T) => unknown): Promise<T> {
    let pending: Promise<T> | undefined;
    try {
      return await watch.within(timeoutMs, (pending = call()));
    } catch (cause) {
      if (onLate) pending?.then(onLate).catch(() => undefined);
      throw new WebhookError('store-unavailable', `The store failed: ${describeError(cause)}`);
    }
  }

  /** Clients send what they could not send before: such a claim must not hold the event for nobody. */
  function giveBack({ key, token }: Claim, { status }: Admission): unknown {
    return status === 'admitted' && key !== undefined && store.release(key, token);
  }

  return {
    admit: (claim) =>
      bounded(
        () => store.admit(claim),
        (late) => giveBack(claim, late),
      ),
    complete: (key, token) => bounded(() => store.complete(key, token)),
    release: (key, token) => bounded(() => store.release(key, token)),
    extend: (key, token, leaseMs) => bounded(() => store.extend(key, token, leaseMs)),
  };
}
