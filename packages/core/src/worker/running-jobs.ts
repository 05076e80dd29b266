/** The jobs that run in this process: each has a signal of its own. */
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
    const entry = { controller, done };
    this.#running.set(id, entry);
    try {
      await done;
    } finally {
      // The same job may run here again after it lost its lease.
      if (this.#running.get(id) === entry) this.#running.delete(id);
    }
  }

  /** Aborts the signals of these jobs; of all by default. */
  abort(ids: Iterable<Id> = this.#running.keys()): void {
    for (const id of ids) this.#running.get(id)?.controller.abort();
  }

  /** Resolves when all jobs that run now have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }
}
