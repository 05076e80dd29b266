import type { DeadLetters, Receiver } from '@call-webhooks/core';
import type { DeadJobs, DeadLetterFilter } from '@call-webhooks/core/stores';
import { loggedError } from '@call-webhooks/core/internal';
import { redrive, type RedriveOptions, type RedriveProgress } from '@call-webhooks/recovery';
import type { RedriveCounts, RedriveTask } from '../api-types.ts';
import { RequestError } from '../http/answer.ts';

const MAX_LETTERS = 200;
const CONCURRENCY = 4;

/** The options of `redrive` that a console can be given. */
export type ConsoleRedrive = Pick<RedriveOptions, 'defaultTenant' | 'concurrency' | 'leaseFor'>;

/** Which letters are meant: these, or those that match. */
export type RedriveWhat = { ids: readonly string[] } | { filter: DeadLetterFilter };

/** Runs one redrive at a time, and keeps the last one to be asked for. */
export class RedriveTasks {
  readonly #receiver: Pick<Receiver, 'deliver'>;
  readonly #letters: DeadLetters | DeadJobs;
  readonly #options: ConsoleRedrive;
  readonly #now: () => number;
  #closed = false;
  #current: { task: RedriveTask; abort: AbortController; done: Promise<void> } | undefined;

  constructor(
    receiver: Pick<Receiver, 'deliver'>,
    letters: DeadLetters | DeadJobs,
    options: ConsoleRedrive,
    now: () => number,
  ) {
    this.#receiver = receiver;
    this.#letters = letters;
    this.#options = options;
    this.#now = now;
  }

  get task(): RedriveTask | undefined {
    return this.#current?.task;
  }

  /** Resolves when nothing runs. */
  get done(): Promise<void> {
    return this.#current?.done ?? Promise.resolve();
  }

  /** @throws RequestError `already-running` */
  start(what: RedriveWhat, by: string | null): RedriveTask {
    if (this.#closed) throw new RequestError('already-running', 'The console is closing.');
    if (this.task?.state === 'running')
      throw new RequestError(
        'already-running',
        'Another redrive is running. Wait for it, or stop it.',
      );
    const task: RedriveTask = {
      id: crypto.randomUUID(),
      by,
      startedAt: this.#now(),
      endedAt: null,
      state: 'running',
      total: 'ids' in what ? what.ids.length : null,
      counts: { handled: 0, queued: 0, failed: 0, alreadyHandled: 0, unknown: 0, skipped: 0 },
      letters: [],
    };
    const abort = new AbortController();
    this.#current = { task, abort, done: this.#run(what, task, abort.signal) };
    return task;
  }

  /** Stops what runs, and starts nothing any more. */
  close(): Promise<void> {
    this.#closed = true;
    this.abort();
    return this.done;
  }

  /** Begins no further letter. Those that run are waited for. */
  abort(): RedriveTask | undefined {
    this.#current?.abort.abort();
    return this.task;
  }

  async #run(what: RedriveWhat, task: RedriveTask, signal: AbortSignal): Promise<void> {
    try {
      if ('ids' in what) await this.#runIds(what.ids, task, signal);
      else {
        const { tenant, ...filter } = what.filter;
        const { total } = await this.#redrive({ filter, tenant }, task, signal);
        task.total ??= total;
      }
      const run = totalOf(task.counts);
      task.state = signal.aborted && run < (task.total ?? Infinity) ? 'aborted' : 'done';
    } catch (error) {
      task.state = 'failed';
      task.error = loggedError(error).text;
    }
    task.endedAt = this.#now();
  }

  async #runIds(ids: readonly string[], task: RedriveTask, signal: AbortSignal): Promise<void> {
    const left = [...ids];
    const failures: unknown[] = [];
    const work = async () => {
      for (
        let id = left.shift();
        id !== undefined && failures.length === 0 && !signal.aborted;
        id = left.shift()
      )
        await this.#redrive({ id }, task, signal).catch((error: unknown) => failures.push(error));
    };
    const { concurrency = CONCURRENCY } = this.#options;
    await Promise.all(Array.from({ length: concurrency }, work));
    if (failures.length > 0) throw failures[0];
  }

  async #redrive(
    which: Pick<RedriveOptions, 'id' | 'filter' | 'tenant'>,
    task: RedriveTask,
    signal: AbortSignal,
  ): Promise<{ total: number }> {
    const onProgress = ({ id, result, outcome, total }: RedriveProgress) => {
      if (which.id === undefined) task.total = total;
      task.counts[result] += 1;
      task.letters.unshift({ id, result, ...(outcome && { outcome }) });
      task.letters.length = Math.min(task.letters.length, MAX_LETTERS);
    };
    const shared = { ...which, onProgress, signal };
    const letters = this.#letters;
    const { concurrency, ...options } = this.#options;
    const result: RedriveCounts = await ('claim' in letters
      ? redrive({
          ...shared,
          ...options,
          concurrency,
          receiver: this.#receiver,
          deadLetters: letters,
        })
      : redrive({ ...shared, concurrency, deadJobs: letters }));
    return { total: totalOf(result) };
  }
}

const totalOf = (counts: RedriveCounts): number => {
  const { handled, queued, failed, alreadyHandled, unknown, skipped } = counts;
  return handled + queued + failed + alreadyHandled + unknown + skipped;
};
