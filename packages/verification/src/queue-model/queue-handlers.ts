import type { DeadLetter } from '@call-webhooks/core';
import { assertThat } from '../model/assert.ts';
import type { QueueJobs } from './queue-jobs.ts';
import type { QueueProcess } from './queue-process.ts';
import type { Run } from './queued-job.ts';

/** The handlers and the dead-letter sinks of all processes. They report each call to the model. */
export class QueueHandlers {
  readonly #jobs: QueueJobs;
  readonly #count: (what: string) => void;
  #running: Run[] = [];
  sinkFails = false;
  /** Whether each handler succeeds at once. */
  areCalm = false;
  /** The first thing that the model forbids: a worker would take it for a failed handler. */
  violation: Error | undefined;

  constructor(jobs: QueueJobs, count: (what: string) => void) {
    this.#jobs = jobs;
    this.#count = count;
  }

  get runningCount(): number {
    return this.#running.length;
  }

  /** The slow runs of a process that still have their leases. */
  runsOf(process: QueueProcess): Run[] {
    return this.#running.filter((run) => run.process === process && run.job.isHeldBy(run));
  }

  /** They died with their process. */
  removeAllOf(process: QueueProcess): void {
    this.#running = this.#running.filter((run) => run.process !== process);
  }

  /** Ends a slow handler. */
  finish(which: number, ok: boolean): void {
    const [run] = this.#running.splice(which % this.#running.length, 1);
    assertThat(run !== undefined, 'no handler is running');
    if (!run.job.isHeldBy(run)) this.#count('a handler that ended after its lease');
    run.end(ok);
  }

  async handle(process: QueueProcess, key: string, attempt: number): Promise<void> {
    await this.#reporting(() => this.#handle(process, key, attempt));
  }

  /** Throws while the sink is down. */
  sink(process: QueueProcess, letter: DeadLetter): void {
    this.#reporting(() => {
      this.#sink(process, letter);
    });
    if (this.sinkFails) throw new Error('the sink is down');
  }

  #handle(process: QueueProcess, key: string, attempt: number): Promise<void> {
    const job = this.#jobs.expect(key);
    const before = job.current?.process.state;
    const run = job.begin(process, attempt, 'handler');
    if (before === 'dead') this.#count('a takeover');
    if (before === 'alive') this.#count('two runs at once');
    const behaviour = this.areCalm ? 'ok' : (job.plan.shift() ?? 'ok');
    return new Promise((resolve, reject) => {
      run.end = (ok) => {
        this.#count(ok ? 'a handler that succeeded' : 'a handler that failed');
        this.#jobs.handlerEnded(run, ok);
        if (ok) resolve();
        else reject(new Error('the handler failed'));
      };
      if (behaviour === 'slow') this.#running.push(run);
      else run.end(behaviour === 'ok');
    });
  }

  #sink(process: QueueProcess, { key = '', attempt }: DeadLetter): void {
    const failed = this.#jobs.takeFailed(process, key, attempt);
    if (!failed) this.#count('a call of the sink alone');
    const run = failed ?? this.#jobs.expect(key).begin(process, attempt, 'sink');
    this.#count(this.sinkFails ? 'a sink that failed' : 'a dead letter');
    run.job.sinkEnded(run, !this.sinkFails);
  }

  #reporting<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.violation ??= error as Error;
      return undefined;
    }
  }
}
