import { toBase64 } from '#platform';
import { docsUrl, WebhookError } from '../errors.ts';
import type { Deadlines } from '../time.ts';
import { keepRenewed } from './renewal.ts';
import type { StoreCalls } from './store-calls.ts';
import type { Admission, Claim, DoneMark } from './store.ts';
import type { Transactions } from './transactions.ts';

/**
 * The maximum time that a lease is held; milliseconds. The service retries after about 300 s, and the
 * retry has to find the event free.
 */
export const MAX_LEASE_MS = 240_000;

let tokenPrefix: string | undefined;
let tokenCount = 0;

/** A fencing token for one claim: a random prefix for each process and a counter within it. */
export function newToken(): string {
  // Not at import: Workers allow no random values there.
  tokenPrefix ??= `${toBase64(crypto.getRandomValues(new Uint8Array(12)))}-`;
  return tokenPrefix + (++tokenCount).toString(36);
}

/**
 * Whether a transaction with `completeIn` was committed. `lost`: it was not, and another process may
 * run the event.
 */
type TransactionEnd = 'committed' | 'rolled-back' | 'lost';

/**
 * Permission to run one event: renewed while the handler runs, and fenced by its token. For an event
 * without a key nothing is leased, and there is nothing to lose.
 */
export class Lease {
  readonly #takenAt: number;
  readonly #store: StoreCalls;
  readonly #wait: Deadlines['in'];
  readonly #claim: Claim;
  readonly #onLost: () => void;
  #stopRenewal: (() => void) | undefined;
  #isReleased = false;
  #ended = false;
  /** The call that marks the event as done. */
  #commit: Promise<boolean> | undefined;
  /** Whether a transaction may have marked it: then a refused renewal does not mean a lost lease. */
  #mayBeDone = false;
  #isDone = false;

  /**
   * @param takenAt when the claim was sent, in milliseconds of `performance.now()`: the store may have
   *   given the lease then, however late it answered
   */
  constructor(
    store: StoreCalls,
    deadlines: Deadlines,
    claim: Claim,
    takenAt: number,
    onLost: () => void,
  ) {
    this.#store = store;
    this.#wait = (...args) => deadlines.in(...args);
    this.#claim = claim;
    this.#takenAt = takenAt;
    this.#onLost = onLost;
  }

  /** Renews the lease after every third of its length until it ends. */
  keep(): void {
    const { key, token, leaseMs } = this.#claim;
    if (key === undefined || this.#ended || this.#stopRenewal) return;
    const renew = async () => {
      const left = Math.min(leaseMs, this.#takenAt + MAX_LEASE_MS - performance.now());
      return left > 0 && ((await this.#store.extend(key, token, left)) || this.#mayBeDone);
    };
    const how = { renew, onLost: this.#onLost, wait: this.#wait };
    this.#stopRenewal = keepRenewed({ every: leaseMs / 3, ...how }, this.#takenAt);
  }

  /**
   * Marks the event as done.
   * @param mark for an event that is in the dead letters
   * @returns `false` if the lease was lost before: another delivery may be running the event
   */
  complete(mark?: DoneMark): Promise<boolean> {
    const { key, token } = this.#claim;
    if (key === undefined || this.#isDone) return Promise.resolve(true);
    this.#end();
    this.#commit = this.#store.complete(key, token, mark);
    return this.#commit;
  }

  /** Whether the call that marks the event as done has been made. */
  get isCommitting(): boolean {
    return this.#commit !== undefined;
  }

  /**
   * Marks the event as done in a transaction of the user.
   * @returns `false` if the lease was lost
   * @throws WebhookError if the event has no key, or if the store can't do it
   */
  completeIn(tx: unknown): boolean | Promise<boolean> {
    const { key, token } = this.#claim;
    if (key === undefined)
      throw new WebhookError(
        'handler-failed',
        'completeIn: the event has no key, so there is nothing to mark as done.',
        { docs: docsUrl('exactly-once.md#your-own-database') },
      );
    this.#mayBeDone = true;
    return this.#store.completeIn(tx, key, token);
  }

  /**
   * Finds out from the store how the transaction of `completeIn` ended, by making the claim again.
   * Unless it was committed or the lease is lost, the lease is held afterwards. It rejects if the store
   * fails.
   */
  async transactionEnd(): Promise<TransactionEnd> {
    if (this.#isReleased) return this.#endAfterRelease();
    let status: Admission['status'] | undefined;
    try {
      ({ status } = await this.#store.admit(this.#claim));
      // A claim that waited for the commit may have seen the event as it was before.
      if (status === 'in-progress') ({ status } = await this.#store.admit(this.#claim));
    } finally {
      if (status !== 'admitted') this.#end(); // even if the store failed: it must not be renewed
    }
    if (status === 'admitted') return 'rolled-back';
    if (status !== 'duplicate') return 'lost';
    this.#isDone = true;
    return 'committed';
  }

  /** At shutdown the lease was released under the handler. Another claim would count another attempt. */
  async #endAfterRelease(): Promise<TransactionEnd> {
    const { key = '' } = this.#claim;
    this.#isDone = (await this.#store.peek(key)) === 'handled';
    return this.#isDone ? 'committed' : 'lost';
  }

  /**
   * Frees the event and keeps its attempt count. If the store fails, the lease expires by itself.
   * Once the commit has begun, this waits for it instead: a store may apply the two in any order.
   */
  async release(): Promise<void> {
    const { key, token } = this.#claim;
    this.#end();
    if (key === undefined || this.#isDone) return;
    this.#isReleased = true;
    try {
      await (this.#commit ?? this.#store.release(key, token));
    } catch {
      // The response to the service is the same.
    }
  }

  #end(): void {
    this.#ended = true;
    this.#stopRenewal?.();
  }
}

export const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease was lost while the handler was running: another delivery of the event may be running.',
  );

/**
 * Finds out whether a transaction with `completeIn` was committed: if it was not, the lease is held
 * again. Only the store knows this: a handler may ignore a rollback, fail after the commit, or lose the
 * answer to the commit.
 * @throws WebhookError `in-progress` if the lease was lost, `store-unavailable` if the store fails
 */
export async function settleTransactions(
  transactions: Transactions,
  lease: Lease,
): Promise<boolean> {
  if (transactions.mayBeDone) {
    const end = await lease.transactionEnd();
    if (end !== 'lost') return end === 'committed';
  } else if (transactions.leaseLost) {
    await lease.release(); // the store may still see it as held, for instance if another process claimed it
  } else return false;
  throw leaseLost();
}
