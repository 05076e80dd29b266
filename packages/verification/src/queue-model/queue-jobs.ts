import type { SqliteQueue } from '@call-webhooks/sqlite';
import { assertThat } from '../model/assert.ts';
import type { QueueProcess } from './queue-process.ts';
import { QueuedJob, type Behaviour, type Run } from './queued-job.ts';

/** The jobs of the model, and the comparison with those of the queue. */
export class QueueJobs {
  readonly #jobs = new Map<string, QueuedJob>();
  /** Runs whose handler failed in the last attempt; the sink is called next. */
  #failed: Run[] = [];

  get all(): QueuedJob[] {
    return [...this.#jobs.values()];
  }

  get dead(): QueuedJob[] {
    return this.all.filter(({ state }) => state === 'dead');
  }

  get(key: string): QueuedJob | undefined {
    return this.#jobs.get(key);
  }

  add(key: string, plan: readonly Behaviour[]): QueuedJob {
    const job = new QueuedJob(key, plan);
    this.#jobs.set(key, job);
    return job;
  }

  /** @throws Violation when nobody has queued such a job */
  expect(key: string): QueuedJob {
    const job = this.#jobs.get(key);
    assertThat(job !== undefined, `${key}: it was run, but never queued`);
    return job;
  }

  handlerEnded(run: Run, ok: boolean): void {
    run.job.handlerEnded(run, ok);
    if (run.awaitsSink) this.#failed.push(run);
  }

  /** The run for which the sink is called, if its handler has just failed. */
  takeFailed(process: QueueProcess, key: string, attempt: number): Run | undefined {
    const run = this.#failed.find(
      (failed) =>
        failed.process === process && failed.job.key === key && failed.attempt === attempt,
    );
    this.#failed = this.#failed.filter((failed) => failed !== run);
    return run;
  }

  /** A dead job, with its id in the queue. */
  async findDead(queue: SqliteQueue, which: number): Promise<{ id: number; job: QueuedJob }> {
    const letters = await queue.deadLetters();
    const letter = letters[which % letters.length];
    assertThat(letter !== undefined, 'the queue has no dead job');
    return { id: letter.id, job: this.expect(letter.delivery.key ?? '') };
  }

  /** @throws Violation when a job is lost, or in another state than in the model */
  async compare(queue: SqliteQueue): Promise<void> {
    const { waiting, delayed, running, done, dead } = await queue.stats();
    const real = { open: waiting + delayed + running, done, dead };
    const count = (state: QueuedJob['state']) =>
      this.all.filter((job) => job.state === state).length;
    const expected = { open: count('open'), done: count('done'), dead: count('dead') };
    assertThat(
      JSON.stringify(real) === JSON.stringify(expected),
      `the queue has ${JSON.stringify(real)} jobs instead of ${JSON.stringify(expected)}`,
    );
    const letters = await queue.deadLetters();
    for (const { delivery, attempt } of letters) {
      const job = this.expect(delivery.key ?? '');
      assertThat(job.state === 'dead', `${job.key}: it is dead, but ${job.state} in the model`);
      assertThat(job.sinkAccepted, `${job.key}: it is dead, but the sink has not accepted it`);
      assertThat(job.attempt === attempt, `${job.key}: it died in attempt ${String(attempt)}`);
    }
  }
}
