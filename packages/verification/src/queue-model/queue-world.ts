import { queuedCall } from '@call-webhooks/contract-tests';
import type { SqliteDatabase } from '@call-webhooks/sqlite';
import { assertThat } from '../model/assert.ts';
import { QueueHandlers } from './queue-handlers.ts';
import { QueueJobs } from './queue-jobs.ts';
import { keyOfCall, LEASE_MS, POLL_MS, QueueProcess } from './queue-process.ts';
import type { Behaviour } from './queued-job.ts';

/** A fake clock. */
export interface QueueTime {
  /** Advances the clock from timer to timer, and calls `rest` after each. */
  advance(ms: number, rest: () => Promise<void>): Promise<void>;
  /** Timers and the monotonic clock are not affected. */
  setWallClock(now: number): void;
}

const GRACE_MS = 200;
/** After that the job of a dead process is run again; milliseconds. */
const TAKEOVER_MS = LEASE_MS + 2 * POLL_MS;
/** How much longer that may take when the clock was set back: the longest lease. */
const SET_BACK_MS = 900_000;

/** Two processes that share a SQLite queue, and the model of its jobs. */
export class QueueWorld {
  readonly counts = new Map<string, number>();
  readonly #db: SqliteDatabase;
  readonly #time: QueueTime;
  readonly #jobs = new QueueJobs();
  readonly #handlers = new QueueHandlers(this.#jobs, (what) => {
    this.#count(what);
  });
  readonly #processes: QueueProcess[];
  #latestClock = Date.now();
  #statements = 0;

  constructor(db: SqliteDatabase, time: QueueTime) {
    this.#db = db;
    this.#time = time;
    this.#processes = [this.#start(), this.#start()];
  }

  get runningCount(): number {
    return this.#handlers.runningCount;
  }

  get deadCount(): number {
    return this.#jobs.dead.length;
  }

  /** The service delivers a call, perhaps not for the first time. */
  async enqueue(at: number, call: number, plan: readonly Behaviour[]): Promise<void> {
    const callId = `call-${String(call)}`;
    const key = keyOfCall(callId);
    const job = this.#jobs.get(key) ?? this.#jobs.add(key, plan);
    if (job.acknowledged) this.#count('a duplicate');
    await this.#process(at).queue.enqueue(queuedCall(callId));
    job.acknowledged = true;
    await this.advance(0);
  }

  /** Ends a slow handler. */
  async finish(which: number, ok: boolean): Promise<void> {
    this.#handlers.finish(which, ok);
    await this.advance(0);
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advance(ms, () => this.#rest());
    await this.#check();
  }

  async stepClock(ms: number): Promise<void> {
    this.#count('a step of the wall clock');
    for (const { current } of this.#jobs.all) current?.followRenewals();
    this.#latestClock = Math.max(this.#latestClock, Date.now());
    this.#time.setWallClock(Date.now() + ms);
    for (const { current } of this.#jobs.all) current?.clockWasSet();
    await this.advance(0);
  }

  /** A process dies with its handlers, and another one is started. */
  async crash(at: number): Promise<void> {
    const process = this.#process(at);
    for (const run of this.#handlers.runsOf(process)) {
      run.followRenewals();
      this.#count('a job whose process died');
    }
    process.die();
    this.#handlers.removeAllOf(process);
    this.#processes[at % this.#processes.length] = this.#start();
    await this.advance(0);
  }

  /** A deploy. Handlers that are still running do not end. */
  async close(at: number): Promise<void> {
    const process = this.#process(at);
    const runs = this.#handlers.runsOf(process);
    if (runs.length > 0) this.#count('a close with running handlers');
    let closed = false;
    void process.close(GRACE_MS).then(() => (closed = true));
    await this.advance(GRACE_MS);
    assertThat(closed, 'close() did not end within its grace period');
    for (const run of runs) if (run.job.current === run) run.job.released();
    this.#processes[at % this.#processes.length] = this.#start();
    await this.advance(0);
  }

  setSinkFault(fails: boolean): void {
    this.#handlers.sinkFails = fails;
  }

  async retryDead(at: number, which: number, plan: readonly Behaviour[]): Promise<void> {
    this.#count('a manual retry');
    const { id, job } = await this.#jobs.findDead(this.#process(at).queue, which);
    job.retriedByHand(plan);
    assertThat(await this.#process(at).queue.retryDead(id), `${job.key}: retryDead() found no job`);
    await this.advance(0);
  }

  async discardDead(at: number, which: number): Promise<void> {
    this.#count('a discarded job');
    const { id, job } = await this.#jobs.findDead(this.#process(at).queue, which);
    job.discarded();
    assertThat(await this.#process(at).queue.discardDead(id), `${job.key}: no job was discarded`);
    await this.advance(0);
  }

  /** All faults end. Then each job has to be handled, or dead and handled after a manual retry. */
  async drain(): Promise<void> {
    this.#handlers.sinkFails = false;
    this.#handlers.areCalm = true;
    while (this.runningCount > 0) await this.finish(0, true);
    await this.advance(TAKEOVER_MS + (this.#latestClock > Date.now() ? SET_BACK_MS : 0));
    for (const { key, current } of this.#jobs.all)
      assertThat(!current, `${key}: it was not run again after its process had died`);
    // A retry that is due by a clock that was set back waits until the clock has caught up.
    if (Date.now() < this.#latestClock) await this.stepClock(this.#latestClock - Date.now());
    await this.advance(2 * POLL_MS);
    while (this.deadCount > 0) await this.retryDead(0, 0, []);
    await this.advance(2 * POLL_MS);
    for (const { key, state } of this.#jobs.all)
      assertThat(state === 'done', `${key}: the job was lost, it is ${state}`);
  }

  #start(): QueueProcess {
    return new QueueProcess(this.#db, {
      handle: (process, key, attempt) => this.#handlers.handle(process, key, attempt),
      sink: (process, letter) => {
        this.#handlers.sink(process, letter);
      },
      onStatement: () => {
        this.#statements += 1;
      },
    });
  }

  /** Until no process uses the database any more. */
  async #rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet++) {
      const before = this.#statements;
      await new Promise(setImmediate);
      if (this.#statements > before) quiet = -1;
    }
  }

  async #check(): Promise<void> {
    if (this.#handlers.violation) throw this.#handlers.violation;
    await this.#jobs.compare(this.#process(0).queue);
  }

  #process(at: number): QueueProcess {
    return this.#processes[at % this.#processes.length] as QueueProcess;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
