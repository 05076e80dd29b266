/**
 * The jobs that run in this process: each has a signal of its own. An id stands for one run: after a
 * lost lease the same job may be here twice.
 */
export class RunningJobs<Id> {
  readonly #running = new Map<Id, { controller: AbortController; done: Promise<void> }>();

  get size(): number {
    return this.#running.size;
  }

  ids(): Id[] {
    return [...this.#running.keys()];
  }

  /** Runs a job, with a signal that `abort` aborts. */
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

  /** Aborts the signals of these jobs; of all by default. */
  abort(ids: Iterable<Id> = this.#running.keys()): void {
    for (const id of ids) this.#running.get(id)?.controller.abort();
  }

  /** Resolves when these jobs have ended; by default all that run now. */
  async idle(ids: Iterable<Id> = this.#running.keys()): Promise<void> {
    await Promise.allSettled([...ids].map(async (id) => this.#running.get(id)?.done));
  }
}
