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
  async function bounded<T>(call: () => Promise<T>, onFailed?: (call: Promise<T>) => void) {
    let pending: Promise<T> | undefined;
    try {
      return await watch.within(timeoutMs, (pending = call()));
    } catch (cause) {
      if (pending) onFailed?.(pending);
      throw new WebhookError('store-unavailable', `The store failed: ${describeError(cause)}`);
    }
  }

  /**
   * For a claim without an answer in time: clients send what they could not send before, and answers
   * are lost. It must not hold the event for nobody until its lease runs out.
   */
  function giveBack({ key, token }: Claim, answer: Promise<Admission>): void {
    if (key === undefined) return;
    const isOver = ({ status }: Admission) => status !== 'admitted';
    answer
      .then(isOver, () => false)
      .then((over) => over || store.release(key, token))
      .catch(() => undefined);
  }

  return {
    admit: (claim) =>
      bounded(
        () => store.admit(claim),
        (answer) => {
          giveBack(claim, answer);
        },
      ),
    complete: (key, token) => bounded(() => store.complete(key, token)),
    release: (key, token) => bounded(() => store.release(key, token)),
    extend: (key, token, leaseMs) => bounded(() => store.extend(key, token, leaseMs)),
  };
}
