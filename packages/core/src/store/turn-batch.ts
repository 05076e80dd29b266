import { sharesTimers } from '#platform';

/** A call in a batch, and how it is settled. */
export interface BatchedCall<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Kept here because the fake timers of a user's tests replace the global one. */
const onImmediate = globalThis.setImmediate as typeof setImmediate | undefined;

/**
 * Collects the calls of one turn of the event loop, for stores that can answer several calls in one
 * round trip. A call never waits for the answer to another one. On runtimes where requests cannot share
 * anything, such as Workers, each call is its own batch and runs at once.
 * @example
 * const claims = new TurnBatch<Claim, Admission>(100, (batch) => void admitAll(batch));
 * const admission = await claims.add(claim);
 */
export class TurnBatch<Call, Answer> {
  readonly #max: number;
  readonly #run: (batch: readonly BatchedCall<Call, Answer>[]) => void;
  #waiting: BatchedCall<Call, Answer>[] = [];

  /**
   * @param max the maximum number of calls in a batch; a full batch runs at once
   * @param run settles every call of the batch, and never throws
   */
  constructor(max: number, run: (batch: readonly BatchedCall<Call, Answer>[]) => void) {
    this.#max = max;
    this.#run = run;
  }

  /** Adds a call to the batch of this turn. It resolves or rejects as `run` settles it. */
  add(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const size = this.#waiting.push({ call, resolve, reject });
      if (size === this.#max || !sharesTimers || !onImmediate) this.#flush();
      else if (size === 1) onImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return; // it was full before the turn ended
    this.#waiting = [];
    this.#run(batch);
  }
}
