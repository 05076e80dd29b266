/**
 * The jobs that are running in this process, each with its own signal, so that a worker can count them,
 * wait for them and abort them when it closes. An id identifies one run, and is compared by identity:
 * after a lost lease, the same job may run twice, under two ids. `startPollingWorker` already does this
 * itself.
 * @example
 * const running = new RunningJobs<Job>();
 * await running.run(job, async (signal) => { await processJob(job.delivery, { attempt: 1, signal }); });
 */
export class RunningJobs<Id> {
  readonly #running = new Map<Id, { controller: AbortController; done: Promise<void> }>();

  /** The number of jobs that are running. */
  get size(): number {
    return this.#running.size;
  }

  /** The ids of the jobs that are running. */
  ids(): Id[] {
    return [...this.#running.keys()];
  }

  /** Runs a job, with a signal that `abort` aborts. Rejects with what the job rejects with. */
  async run(id: Id, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const done = work(controller.signal);
    this.#running.set(id, { controller, done });
    try {
      await done;
    } finally {
      this.#running.delete(id);
    }
  }

  /** Aborts the signals of these jobs; by default, of all running jobs. */
  abort(ids: Iterable<Id> = this.#running.keys()): void {
    for (const id of ids) this.#running.get(id)?.controller.abort();
  }

  /** Resolves when these jobs have ended; by default, all that are running now. Never rejects. */
  async idle(ids: Iterable<Id> = this.#running.keys()): Promise<void> {
    await Promise.allSettled([...ids].map(async (id) => this.#running.get(id)?.done));
  }
}
