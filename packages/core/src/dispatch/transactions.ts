import { isPending, type Awaitable } from '../awaitable.ts';
import { docsUrl, WebhookError } from '../outcome/webhook-error.ts';

/** What a run can mark as done in a transaction of the user: a leased event, or the job of a queue. */
export interface Completable {
  /** Resolves with `false` if the lease was lost. */
  completeIn(tx: unknown): Awaitable<boolean>;
}

/** The error of a call that comes after the handler has ended. */
export const tooLate = () =>
  new WebhookError(
    'handler-failed',
    'completeIn: the handler has ended. Await the transaction in the handler.',
    { docs: docsUrl('exactly-once.md#your-own-database') },
  );

/** The calls of `context.completeIn` in one run. */
export class Transactions {
  readonly #target: Completable | undefined;
  #running = 0;
  #marked = false;
  #leaseLost = false;

  constructor(target: Completable | undefined) {
    this.#target = target;
  }

  /** Whether a transaction may be committed that marks the run as done. */
  get mayBeDone(): boolean {
    return this.#marked || this.#running > 0;
  }

  /** Whether a transaction was told to roll back. */
  get leaseLost(): boolean {
    return this.#leaseLost;
  }

  /**
   * Throws at once what a synchronous client throws: its transactions wait for no promise.
   * @throws WebhookError
   */
  completeIn(tx: unknown): Promise<void> {
    if (!this.#target)
      throw new WebhookError(
        'invalid-options',
        'completeIn: this queue is in no database that a transaction of yours could reach. Use pgBossQueue or sqliteQueue, or context.key.',
        { docs: docsUrl('exactly-once.md#workers') },
      );
    const answer = this.#target.completeIn(tx);
    if (isPending(answer)) return this.#wait(answer);
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
    this.#leaseLost = true;
    throw new WebhookError(
      'in-progress',
      'completeIn: the lease was lost, so another delivery of the event may be running. Let this error roll back the transaction.',
      { docs: docsUrl('exactly-once.md#your-own-database') },
    );
  }
}
