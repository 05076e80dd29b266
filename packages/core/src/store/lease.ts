import { type Awaitable, isPending } from '../awaitable.ts';
import { toBase64 } from '../base64.ts';
import { docsUrl, WebhookError, withOrigin } from '../errors.ts';
import { CHANNELS, type StoreMessage, traced } from '../report/channels.ts';
import { describeError } from '../report/error-text.ts';
import { withRedactedIds } from '../report/ids.ts';
import { type Deadline, type DeadlineScheduler, TimeoutError } from '../time.ts';
import { callSyncIfPossible } from './memory-store.ts';
import type { Admission, Claim, DoneMark, Store } from './store.ts';

/**
 * No lease is held for longer; milliseconds. The service retries after about 300 s, and the retry
 * has to find the event free.
 */
export const MAX_LEASE_MS = 240_000;

/** The part of a store that a receiver uses. */
export interface LeaseStore {
  admit(claim: Claim): Awaitable<Admission>;
  complete(key: string, token: string, mark?: DoneMark): Awaitable<boolean>;
  completeIn?: ((tx: unknown, key: string, token: string) => Awaitable<boolean>) | undefined;
  release(key: string, token: string): Awaitable<boolean>;
  extend(key: string, token: string, leaseMs: number): Awaitable<boolean>;
  reopen?: ((key: string) => Awaitable<boolean>) | undefined;
}

/** Whether a transaction with `completeIn` was committed. `lost`: it was not, and somebody else may run the event. */
export type TransactionEnd = 'committed' | 'rolled-back' | 'lost';

let tokenPrefix: string | undefined;
let tokenCount = 0;

/** A fencing token for one claim: a random prefix for each process and a counter within it. */
export function newToken(): string {
  // Not at import: Workers allow no random values there.
  tokenPrefix ??= `${toBase64(crypto.getRandomValues(new Uint8Array(12)))}-`;
  return tokenPrefix + (++tokenCount).toString(36);
}

/**
 * The right to run one event: renewed while the handler runs, and fenced by its token. For an event
 * without a key nothing is leased, and every operation succeeds.
 */
export class Lease implements Deadline {
  place = 0;
  /** When the lease is to be renewed next. */
  at: number;
  readonly #store: LeaseStore;
  readonly #scheduler: DeadlineScheduler;
  readonly #claim: Claim;
  readonly #key: string | undefined;
  readonly #token: string;
  readonly #leaseMs: number;
  readonly #takenAt: number;
  readonly #onLost: () => void;
  #ended = false;
  #commit: Awaitable<boolean> | undefined;
  /** Whether a transaction may have marked the event: then a refused renewal does not mean a lost lease. */
  #mayBeDone = false;

  /** @param takenAt `performance.now()` when it was taken */
  constructor(
    store: LeaseStore,
    scheduler: DeadlineScheduler,
    claim: Claim,
    takenAt: number,
    onLost: () => void,
  ) {
    const { key, token, leaseMs } = claim;
    this.#store = store;
    this.#scheduler = scheduler;
    this.#claim = claim;
    this.#key = key;
    this.#token = token;
    this.#leaseMs = leaseMs;
    this.#takenAt = takenAt;
    this.#onLost = onLost;
    this.at = takenAt + leaseMs / 3;
  }

  /** Renews the lease at every third of its length until it ends. */
  startRenewal(): void {
    if (this.#key !== undefined && !this.#ended) this.#scheduler.add(this);
  }

  /**
   * Marks the event as done.
   * @param mark of an event that the dead letters have
   * @returns `false` if the lease was lost before: another delivery may be running the event
   */
  complete(mark?: DoneMark): Awaitable<boolean> {
    if (this.#key === undefined) return true;
    if (this.#commit === true) return true; // in a transaction of the user
    this.#end();
    return (this.#commit = this.#store.complete(this.#key, this.#token, mark));
  }

  /**
   * Marks the event as done in a transaction of the user.
   * @returns `false` if the lease was lost
   * @throws WebhookError if the event has no key, or if the store can't do it
   */
  completeIn(tx: unknown): Awaitable<boolean> {
    if (this.#key === undefined)
      throw new WebhookError(
        'handler-failed',
        'completeIn: the event has no key, so there is nothing to mark as done.',
        { docs: docsUrl('exactly-once.md#your-own-database') },
      );
    if (!this.#store.completeIn)
      throw new WebhookError(
        'invalid-options',
        'completeIn: this store is in no database that a transaction of yours could reach. Use postgresStore or sqliteStore.',
        { docs: docsUrl('exactly-once.md#your-own-database') },
      );
    this.#mayBeDone = true;
    return this.#store.completeIn(tx, this.#key, this.#token);
  }

  /**
   * Asks the store how the transaction of `completeIn` ended, by repeating the claim. Unless it was
   * committed or the lease is lost, the lease is held afterwards. It rejects if the store fails.
   */
  async transactionEnd(): Promise<TransactionEnd> {
    let status: Admission['status'] | undefined;
    try {
      ({ status } = await this.#store.admit(this.#claim));
      // A claim that waited for the commit may have seen the event as it was before.
      if (status === 'in-progress') ({ status } = await this.#store.admit(this.#claim));
    } finally {
      if (status !== 'admitted') this.#end(); // also if the store failed: the lease has to run out
    }
    if (status === 'admitted') return 'rolled-back';
    if (status !== 'duplicate') return 'lost';
    this.#commit = true;
    return 'committed';
  }

  /**
   * Frees the event and keeps its attempt count. If the store fails, the lease expires by itself.
   * Once the commit has begun, this waits for it instead: a store may apply the two in any order.
   */
  async release(): Promise<void> {
    if (this.#key === undefined) return;
    this.#end();
    try {
      await (this.#commit ?? this.#store.release(this.#key, this.#token));
    } catch {
      // The response to the service is the same.
    }
  }

  #end(): void {
    this.#ended = true;
    this.#scheduler.delete(this);
  }

  /** Called by the scheduler when a third of the lease has passed. */
  onReached(): void {
    const age = performance.now() - this.#takenAt;
    const leaseMs = Math.min(this.#leaseMs, MAX_LEASE_MS - age);
    if (leaseMs <= 0) {
      this.#onLost();
      return;
    }
    this.at = performance.now() + this.#leaseMs / 3;
    this.#scheduler.add(this);
    void this.#renew(this.#key as string, leaseMs);
  }

  async #renew(key: string, leaseMs: number): Promise<void> {
    let held = true;
    try {
      held = await this.#store.extend(key, this.#token, leaseMs);
    } catch {
      // The store is unavailable: the next renewal or the commit will tell.
    }
    if (held || this.#ended || this.#mayBeDone) return; // a commit or a release may have come first
    this.#scheduler.delete(this);
    this.#onLost();
  }
}

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
