import { isPending, type Awaitable } from '../awaitable.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../privacy/scrub.ts';
import { TimedOut, type Watch } from '../time/watch.ts';
import { ask } from './at-once.ts';
import type { LeaseStore } from './lease.ts';
import type { Admission, Claim, Store } from './store.ts';

/** What the receiver does with a store. */
export interface BoundedStore extends LeaseStore {
  admit(claim: Claim): Awaitable<Admission>;
}

/**
 * A store whose calls end in time, whatever its client does: clients of dead servers hang for many
 * seconds by default. A call that timed out may still be applied; the fencing tokens cover that.
 * Every failure is a `WebhookError` `store-unavailable`.
 */
export function boundedStore(store: Store, timeoutMs: number, watch: Watch): BoundedStore {
  function bounded<T>(
    call: () => Awaitable<T>,
    onFailed?: (call: Promise<T>) => void,
  ): Awaitable<T> {
    try {
      const answer = call();
      return isPending(answer) ? inTime(Promise.resolve(answer), onFailed) : answer;
    } catch (thrown) {
      throw unavailable(thrown);
    }
  }

  // As `watch.within`, in one promise: it stands in the way of every delivery, twice.
  function inTime<T>(call: Promise<T>, onFailed?: (call: Promise<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let failed = false;
      const fail = (cause: unknown) => {
        watch.delete(wait);
        if (!failed) onFailed?.(call);
        failed = true;
        reject(unavailable(cause));
      };
      const wait = {
        at: performance.now() + timeoutMs,
        wake() {
          fail(new TimedOut(timeoutMs));
        },
      };
      watch.add(wait);
      call.then((value) => {
        watch.delete(wait);
        resolve(value);
      }, fail);
    });
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
        () => ask(store, 'admit', claim),
        (answer) => {
          giveBack(claim, answer);
        },
      ),
    complete: (key, token) => bounded(() => ask(store, 'complete', key, token)),
    release: (key, token) => bounded(() => ask(store, 'release', key, token)),
    extend: (key, token, leaseMs) => bounded(() => ask(store, 'extend', key, token, leaseMs)),
  };
}

const unavailable = (cause: unknown) =>
  new WebhookError('store-unavailable', `The store failed: ${describeError(cause)}`);
