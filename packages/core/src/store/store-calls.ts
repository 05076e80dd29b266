import { docsUrl, invalidOptions, WebhookError, withOrigin } from '../errors.ts';
import { type StoreMessage, traced } from '../report/channels.ts';
import { describeError } from '../report/error-text.ts';
import { withRedactedIds } from '../report/redact.ts';
import type { Deadlines } from '../time.ts';
import type { EventState } from './outcome-log.ts';
import type { Admission, Claim, DoneMark, Store } from './store.ts';

/**
 * The calls to a store. Calls to a store that was passed in end within `timeoutMs`, because the client
 * of a dead server can hang for many seconds, and every failure is a `WebhookError` with the code
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
    throw invalidOptions(
      'completeIn: this store is not in a database with transactions that a handler could use. Use postgresStore, mysqlStore or sqliteStore, or pass context.key to the other system.',
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

  /** @returns `undefined` as well if the store can't tell */
  async peek(key: string): Promise<EventState | undefined> {
    const ask = async () => (await this.#store.peek?.([key])) ?? [];
    return (await this.#call('peek', key, ask, Array.isArray))[0];
  }

  /**
   * Each call is a message of `call-webhooks:store`.
   * @param isAnswer checks the answer, because users write stores as well: an invalid answer must not
   *   pass
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
    return traced('store', () => withRedactedIds({ operation, key }), inTime);
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
      const { name } = this.#store;
      const store = name === undefined ? 'The store' : `The store (${name})`;
      const message = `${store} failed: ${describeError(error)}`;
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
      // The command may have been applied nevertheless.
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
