import { isPending, type Awaitable } from '../awaitable.ts';
import { withOrigin } from '../outcome/origin.ts';
import { CHANNELS, traced, type StoreMessage } from '../channels/channels.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../redact/error-text.ts';
import { withRedactedIds } from '../redact/ids.ts';
import { TimeoutError, type DeadlineScheduler } from '../time/deadline-scheduler.ts';
import type { LeaseStore } from './lease.ts';
import type { Admission, Claim, Store } from './store.ts';
import { callSyncIfPossible } from './sync-store.ts';

/**
 * A store whose calls end within `timeoutMs`: clients of dead servers can hang for many seconds. A
 * call that timed out may still be applied later; the fencing tokens make that harmless. Every
 * failure is a `WebhookError` with the code `store-unavailable`.
 */
export function boundedStore(
  store: Store,
  timeoutMs: number,
  scheduler: DeadlineScheduler,
): LeaseStore {
  function bounded<T>(
    call: () => Awaitable<T>,
    onFailed?: (call: Promise<T>) => void,
  ): Awaitable<T> {
    try {
      const result = call();
      return isPending(result) ? withTimeout(Promise.resolve(result), onFailed) : result;
    } catch (thrown) {
      throw unavailable(thrown);
    }
  }

  // Like `scheduler.withTimeout`, with one promise less: each delivery passes here twice.
  function withTimeout<T>(call: Promise<T>, onFailed?: (call: Promise<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let failed = false;
      const fail = (cause: unknown) => {
        scheduler.delete(deadline);
        if (!failed) onFailed?.(call);
        failed = true;
        reject(unavailable(cause));
      };
      const deadline = {
        place: 0,
        at: performance.now() + timeoutMs,
        onReached() {
          fail(new TimeoutError(timeoutMs));
        },
      };
      scheduler.add(deadline);
      call.then((value) => {
        scheduler.delete(deadline);
        resolve(value);
      }, fail);
    });
  }

  /**
   * Releases a claim that failed or timed out: its command may still be sent, or its answer was
   * lost, and the event must not stay claimed until the lease expires.
   */
  function releaseUnanswered({ key, token }: Claim, answer: Promise<Admission>): void {
    if (key === undefined) return;
    const isNotHeld = ({ status }: Admission) => status !== 'admitted';
    answer
      .then(isNotHeld, () => false)
      .then((notHeld) => notHeld || store.release(key, token))
      .catch(() => undefined);
  }

  return {
    admit: (claim) =>
      observed('admit', claim.key, () =>
        bounded(
          () => callSyncIfPossible(store, 'admit', claim),
          (answer) => {
            releaseUnanswered(claim, answer);
          },
        ),
      ),
    complete: (key, token, mark) =>
      observed('complete', key, () =>
        bounded(() => callSyncIfPossible(store, 'complete', key, token, mark)),
      ),
    reopen:
      store.reopen &&
      ((key) => observed('reopen', key, () => bounded(() => store.reopen?.(key) ?? false))),
    // Runs on a connection of the user, whose own time limits apply.
    completeIn:
      store.completeIn && ((tx, key, token) => store.completeIn?.(tx, key, token) ?? false),
    release: (key, token) =>
      observed('release', key, () =>
        bounded(() => callSyncIfPossible(store, 'release', key, token)),
      ),
    extend: (key, token, leaseMs) =>
      observed('extend', key, () =>
        bounded(() => callSyncIfPossible(store, 'extend', key, token, leaseMs)),
      ),
  };
}

/** Runs a call within `call-webhooks:store`. */
function observed<T>(
  operation: StoreMessage['operation'],
  key: string | undefined,
  call: () => Awaitable<T>,
): Awaitable<T> {
  const channel = CHANNELS.store;
  if (channel?.hasSubscribers !== true) return call();
  const message = withRedactedIds({ operation, key });
  return traced(channel, message, call, (error) => error as WebhookError);
}

function unavailable(error: unknown): WebhookError {
  const message = `The store failed: ${describeError(error)}`;
  return withOrigin(new WebhookError('store-unavailable', message), { source: 'store', error });
}
