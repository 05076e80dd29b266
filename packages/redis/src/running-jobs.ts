/** The jobs that run in this process: how to stop them, and how to wait for them. */
export class RunningJobs {
  readonly #running = new Map<string, { controller: AbortController; done: Promise<unknown> }>();

  get size(): number {
    return this.#running.size;
  }

  /** Runs one, with a signal that `abort` aborts. */
  async run(id: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const done = work(controller.signal);
    const entry = { controller, done };
    this.#running.set(id, entry);
    try {
      await done;
    } finally {
      // The same job may run here a second time, when its first run lost its lock.
      if (this.#running.get(id) === entry) this.#running.delete(id);
    }
  }

  /** Aborts the signals of these, or of all. */
  abort(ids: Iterable<string> = this.#running.keys()): void {
    for (const id of ids) this.#running.get(id)?.controller.abort();
  }

  /** Waits until none runs, for `ms` at most. */
  async idle(ms: number): Promise<void> {
    await within(ms, Promise.allSettled([...this.#running.values()].map(({ done }) => done)));
  }
}

/** Waits for a promise, for `ms` at most. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
