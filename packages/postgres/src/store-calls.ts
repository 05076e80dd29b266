import { TurnBatch, type BatchedCall } from '@call-webhooks/core/stores';
import { sqlState } from './client.ts';

/** How calls are made, and in which limits. */
export interface CallQueueOptions<Call, Answer> {
  /** The rows that a call writes. */
  rows: (call: Call) => (string | null)[];
  /** Calls that write different rows. */
  together: (calls: readonly Call[]) => Promise<Answer[]>;
  alone: (call: Call) => Promise<Answer>;
  /** Whether a call may not be made with others. */
  isAlone?: (call: Call) => boolean;
  /** How many statements are under way at once. */
  concurrency: number;
  /** As many calls as this are made alone, at the same time: a prepared statement takes a part of a batch's time. */
  few: number;
  /** How long the caller waits for the answer; milliseconds. */
  within: (call: Call) => number;
}

interface WaitingCall<Call, Answer> extends BatchedCall<Call, Answer> {
  /** When half of the caller's time is over; milliseconds of `performance.now()`. */
  readonly sendBy: number;
}

const MAX_BATCH = 64;

/**
 * Makes the calls of one turn of the event loop with one statement (decision 12). While the server is
 * slow, calls wait here, in order, and go together when a statement has ended. One that has waited for half
 * of its caller's time is not sent any more: its answer would come too late, and keep the server from what
 * comes after it. For the same reason fewer calls share a statement while statements take long.
 */
export class CallQueue<Call, Answer> {
  readonly #options: CallQueueOptions<Call, Answer>;
  readonly #turn = new TurnBatch<Call, Answer>(MAX_BATCH, (calls) => {
    this.#wait(calls);
  });
  #isAdding = false;
  #waiting: WaitingCall<Call, Answer>[] = [];
  #underWay = 0;
  #batchSize = MAX_BATCH;

  constructor(options: CallQueueOptions<Call, Answer>) {
    this.#options = options;
  }

  add(call: Call): Promise<Answer> {
    this.#isAdding = true;
    const answer = this.#turn.add(call);
    this.#isAdding = false;
    return answer;
  }

  #wait(calls: readonly BatchedCall<Call, Answer>[]): void {
    // At once and on its own: this is where requests can't share anything, as on Workers.
    if (this.#isAdding && calls.length === 1) {
      void this.#alone(calls);
      return;
    }
    const now = performance.now();
    for (const call of calls)
      this.#waiting.push({ ...call, sendBy: now + this.#options.within(call.call) / 2 });
    this.#send();
  }

  #send(): void {
    this.#dropLate();
    while (this.#waiting.length > 0 && this.#underWay < this.#options.concurrency) {
      this.#underWay += 1;
      void this.#run(this.#take()).finally(() => {
        this.#underWay -= 1;
        this.#send();
      });
    }
  }

  #dropLate(): void {
    const now = performance.now();
    const late = this.#waiting.filter(({ sendBy }) => sendBy <= now);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ sendBy }) => sendBy > now);
    for (const { reject } of late)
      reject(
        new Error(
          'Postgres is busy: a call was not sent, since its answer would have arrived too late.',
        ),
      );
  }

  /** The first calls, as far as they write different rows. The others stay in their order. */
  #take(): WaitingCall<Call, Answer>[] {
    const { rows, isAlone = () => false, few, concurrency } = this.#options;
    const [first] = this.#waiting;
    const isFree = this.#waiting.length <= Math.min(few, concurrency - this.#underWay + 1);
    if (first && (isFree || isAlone(first.call))) return this.#waiting.splice(0, 1);
    const written = new Set<string | null>();
    const batch: WaitingCall<Call, Answer>[] = [];
    const others: WaitingCall<Call, Answer>[] = [];
    for (const one of this.#waiting) {
      const names = rows(one.call).filter((name) => name !== null);
      const fits =
        batch.length < this.#batchSize &&
        !isAlone(one.call) &&
        !names.some((name) => written.has(name));
      (fits ? batch : others).push(one);
      if (fits) for (const name of names) written.add(name);
    }
    this.#waiting = others;
    return batch;
  }

  async #run(batch: readonly WaitingCall<Call, Answer>[]): Promise<void> {
    const startedAt = performance.now();
    try {
      if (batch.length > 1) await this.#together(batch);
      else await this.#alone(batch);
    } finally {
      const took = performance.now() - startedAt;
      const isSlow = batch.some(({ call }) => took > this.#options.within(call) / 2);
      this.#batchSize = isSlow
        ? Math.max(1, Math.floor(batch.length / 2))
        : Math.min(MAX_BATCH, this.#batchSize + 1);
    }
  }

  async #together(batch: readonly WaitingCall<Call, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.together(batch.map(({ call }) => call));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (isOfOneRow(error))
        void this.#alone(batch); // one may wait for a lock, and nobody for it
      else for (const { reject } of batch) reject(error);
    }
  }

  async #alone(batch: readonly BatchedCall<Call, Answer>[]): Promise<void> {
    await Promise.all(
      batch.map(({ call, resolve, reject }) => this.#options.alone(call).then(resolve, reject)),
    );
  }
}

/**
 * Whether the calls of a failed batch may fare better alone: the server refused its statement and rolled
 * it back, because of one row's data, or a lock that was not free in time. Not so where the connection
 * (class 08) or the server (53, 57) was the trouble.
 */
function isOfOneRow(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(?:08|53|57)/.test(state);
}
