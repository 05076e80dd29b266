import { docsUrl, invalidOptions, WebhookError } from '../errors.ts';

/** What a run can mark as done in the user's transaction: a leased event, or a queue job. */
export interface Completable {
  /** Resolves with `false` if the lease was lost. */
  completeIn(tx: unknown): boolean | PromiseLike<boolean>;
}

/** The calls of `context.completeIn` in one run. */
export class Transactions {
  /** Whether `completeIn` was called. */
  called = false;
  /** Whether a transaction has to roll back. */
  leaseLost = false;
  readonly #target: Completable | undefined;
  #running = 0;
  #marked = false;
  #ended = false;
  #lateCall: WebhookError | undefined;
  #onLateCall: ((refusal: WebhookError) => void) | undefined;

  /** @param target what a call marks as done; absent if there is nothing in a database */
  constructor(target: Completable | undefined) {
    this.#target = target;
  }

  /** Whether a transaction may be committed that marks the run as done. */
  get mayBeDone(): boolean {
    return this.#marked || this.#running > 0;
  }

  /** The handler has ended, so it can complete nothing any more. */
  end(): void {
    this.#ended = true;
  }

  /** The event is done, so what a `completeIn` that comes too late would mark is lost. */
  onLateCall(report: (refusal: WebhookError) => void): void {
    if (this.#lateCall) report(this.#lateCall);
    else this.#onLateCall = report;
  }

  /**
   * Throws the error of a synchronous client synchronously: its transactions do not wait for promises.
   * @throws WebhookError
   */
  completeIn(tx: unknown): Promise<void> {
    if (this.#ended) throw this.#tooLate();
    this.called = true;
    if (!this.#target)
      throw invalidOptions(
        'completeIn: this queue is not in a database with transactions that a handler could use. Use pgBossQueue or sqliteQueue, or pass context.key to the other system.',
        { docs: docsUrl('exactly-once.md#workers') },
      );
    const answer = this.#target.completeIn(tx);
    if (typeof answer !== 'boolean') return this.#wait(answer);
    this.#note(answer);
    return Promise.resolve();
  }

  async #wait(answer: PromiseLike<boolean>): Promise<void> {
    this.#running += 1;
    let held: boolean;
    try {
      held = await answer;
    } catch (error) {
      this.#marked = true; // the statement may have been applied
      throw error;
    } finally {
      this.#running -= 1;
    }
    this.#note(held);
  }

  #note(held: boolean): void {
    if (held) {
      this.#marked = true;
      return;
    }
    this.leaseLost = true;
    throw new WebhookError(
      'in-progress',
      'completeIn: the lease was lost, so another delivery of the event may be running. Let this error roll back the transaction.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
  }

  #tooLate(): WebhookError {
    const refusal = new WebhookError(
      'handler-failed',
      'completeIn: the handler has already ended. Await the transaction in the handler.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
    this.#lateCall ??= refusal;
    this.#onLateCall?.(refusal);
    this.#onLateCall = undefined; // once is enough
    return refusal;
  }
}

export const notCommitted = () =>
  new Error('The handler succeeded, but the transaction of completeIn was not committed.');
