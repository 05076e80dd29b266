import { docsUrl, WebhookError, withOrigin } from '../errors.ts';
import type { Transactions } from '../events/context.ts';
import { toBase64 } from '../queue.ts';
import { CHANNELS, traced, type StoreMessage } from '../report/channels.ts';
import { describeError } from '../report/error-text.ts';
import { withRedactedIds } from '../report/redact.ts';
import type { Deadline, Deadlines } from '../time.ts';
import type { Admission, Claim, DoneMark, Store } from './store.ts';

/**
 * No lease is held for longer; milliseconds. The service retries after about 300 s, and the retry
 * has to find the event free.
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
 * The calls of a store. Those of a store that was passed in end within `timeoutMs`, as clients of dead
 * servers can hang for many seconds, and every failure is a `WebhookError` with the code
 * `store-unavailable`. A call that timed out may still be applied later; the fencing tokens make that
 * harmless.
 */
export class StoreCalls {
  readonly #store: Store;
  readonly #deadlines: Deadlines;
  readonly #timeoutMs: number | undefined;

  /** @param timeoutMs milliseconds; absent for the `memoryStore()` that the receiver created, which answers at once */
  constructor(store: Store, deadlines: Deadlines, timeoutMs?: number) {
    this.#store = store;
    this.#deadlines = deadlines;
    this.#timeoutMs = timeoutMs;
  }

  admit(claim: Claim): Promise<Admission> {
    const { key, group } = claim;
    if (this.#timeoutMs === undefined)
      return this.#call('admit', key, () => this.#store.admit(claim));
    let asked: Promise<Admission> | undefined;
    const ask = () => (asked = this.#store.admit(claim));
    const answer = this.#call('admit', key, ask, (value) => isAdmission(value, group));
    answer.catch(() => void this.#releaseUnanswered(claim, asked));
    return answer;
  }

  complete(key: string, token: string, mark?: DoneMark): Promise<boolean> {
    return this.#call('complete', key, () => this.#store.complete(key, token, mark), isBoolean);
  }

  /** In a transaction of the user, whose client has its own time limits. */
  completeIn(tx: unknown, key: string, token: string): boolean | Promise<boolean> {
    if (this.#store.completeIn) return this.#store.completeIn(tx, key, token);
    throw new WebhookError(
      'invalid-options',
      'completeIn: this store is in no database that a transaction of yours could reach. Use postgresStore or sqliteStore.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#call('release', key, () => this.#store.release(key, token), isBoolean);
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return this.#call('extend', key, () => this.#store.extend(key, token, leaseMs), isBoolean);
  }

  async reopen(key: string): Promise<void> {
    const store = this.#store;
    await this.#call('reopen', key, async () => store.reopen?.(key));
  }

  /**
   * Each call is a message of `call-webhooks:store`.
   * @param isAnswer stores are written by users as well: what is no answer must not pass for one
   */
  #call<T>(
    operation: StoreMessage['operation'],
    key: string | undefined,
    call: () => Promise<T>,
    isAnswer: (value: unknown) => boolean = () => true,
  ): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    const inTime =
      timeoutMs === undefined ? call : () => this.#inTime(timeoutMs, operation, call, isAnswer);
    const channel = CHANNELS.store;
    if (channel?.hasSubscribers !== true) return inTime();
    return traced(channel, withRedactedIds({ operation, key }), inTime);
  }

  async #inTime<T>(
    timeoutMs: number,
    operation: StoreMessage['operation'],
    call: () => Promise<T>,
    isAnswer: (value: unknown) => boolean,
  ): Promise<T> {
    try {
      const answer = await this.#deadlines.withTimeout(timeoutMs, Promise.resolve(call()));
      if (isAnswer(answer)) return answer;
      throw new TypeError(`it returned an invalid answer to ${operation}`);
    } catch (error) {
      const message = `The store failed: ${describeError(error)}`;
      const failure = new WebhookError('store-unavailable', message);
      throw withOrigin(failure, { source: 'store', error });
    }
  }

  /**
   * Releases a claim that failed or timed out: its command may still be sent, or its answer was lost
   * or made no sense, and the event must not stay claimed until the lease expires.
   */
  async #releaseUnanswered(
    { key, token, group }: Claim,
    asked: Promise<Admission> | undefined,
  ): Promise<void> {
    try {
      const answer = await asked;
      if (answer?.status !== 'admitted' && isAdmission(answer, group)) return;
    } catch {
      // The command may have been applied all the same.
    }
    if (key === undefined) return;
    try {
      await this.#store.release(key, token);
    } catch {
      // The lease expires by itself.
    }
  }
}

const isBoolean = (value: unknown) => typeof value === 'boolean';

function isAdmission(value: unknown, group: string | undefined): boolean {
  const { status, attempt } = Object(value) as { status?: unknown; attempt?: unknown };
  if (status === 'admitted') return Number.isInteger(attempt) && Number(attempt) >= 1;
  if (status === 'group-busy') return group !== undefined;
  return ['duplicate', 'dead-lettered', 'in-progress', 'replayed'].includes(status as string);
}

/** Whether a transaction with `completeIn` was committed. `lost`: it was not, and somebody else may run the event. */
type TransactionEnd = 'committed' | 'rolled-back' | 'lost';

/**
 * The right to run one event: renewed while the handler runs, and fenced by its token. For an event
 * without a key nothing is leased, and there is nothing to lose.
 */
export class Lease {
  /** When the store gave it; `performance.now()`. */
  readonly takenAt = performance.now();
  readonly #store: StoreCalls;
  readonly #deadlines: Deadlines;
  readonly #claim: Claim;
  readonly #onLost: () => void;
  #renewal: Deadline | undefined;
  #ended = false;
  /** The call that marks the event as done. */
  #commit: Promise<boolean> | undefined;
  /** Whether a transaction may have marked it: then a refused renewal does not mean a lost lease. */
  #mayBeDone = false;
  #isDone = false;

  constructor(store: StoreCalls, deadlines: Deadlines, claim: Claim, onLost: () => void) {
    this.#store = store;
    this.#deadlines = deadlines;
    this.#claim = claim;
    this.#onLost = onLost;
  }

  /** Renews the lease at every third of its length until it ends. */
  async keep(): Promise<void> {
    const { key, token, leaseMs } = this.#claim;
    if (key === undefined || this.#renewal) return;
    let renewedAt = this.takenAt;
    let isLost = false;
    while (!this.#ended && !isLost) {
      await new Promise<void>((resolve) => {
        this.#renewal = this.#deadlines.in(leaseMs / 3, resolve, renewedAt);
      });
      renewedAt = performance.now();
      const left = Math.min(leaseMs, this.takenAt + MAX_LEASE_MS - renewedAt);
      // While the store is unavailable, the next renewal or the commit will tell.
      const isHeld = left > 0 && (await this.#store.extend(key, token, left).catch(() => true));
      isLost = left <= 0 || !(isHeld || this.#mayBeDone);
    }
    // A commit or a release may have come first.
    if (!this.#ended) this.#onLost();
  }

  /**
   * Marks the event as done.
   * @param mark of an event that the dead letters have
   * @returns `false` if the lease was lost before: another delivery may be running the event
   */
  complete(mark?: DoneMark): Promise<boolean> {
    const { key, token } = this.#claim;
    if (key === undefined || this.#isDone) return Promise.resolve(true);
    this.#end();
    this.#commit = this.#store.complete(key, token, mark);
    return this.#commit;
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
      if (status !== 'admitted') this.#end(); // also if the store failed: nobody may renew it
    }
    if (status === 'admitted') return 'rolled-back';
    if (status !== 'duplicate') return 'lost';
    this.#isDone = true;
    return 'committed';
  }

  /**
   * Frees the event and keeps its attempt count. If the store fails, the lease expires by itself.
   * Once the commit has begun, this waits for it instead: a store may apply the two in any order.
   */
  async release(): Promise<void> {
    const { key, token } = this.#claim;
    this.#end();
    if (key === undefined || this.#isDone) return;
    try {
      await (this.#commit ?? this.#store.release(key, token));
    } catch {
      // The response to the service is the same.
    }
  }

  #end(): void {
    this.#ended = true;
    this.#renewal?.cancel();
  }
}

export const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease was lost while the handler ran: another delivery of the event may be running.',
  );

/**
 * Finds out whether a transaction with `completeIn` was committed: if it was not, the lease is held
 * again. Only the store knows: a handler may ignore that its transaction was rolled back, or fail after
 * the commit, or lose the answer to it.
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
    await lease.release(); // the store may see it as held, for instance if it was asked elsewhere
  } else return false;
  throw leaseLost();
}
