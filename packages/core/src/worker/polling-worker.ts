/** A job that was taken from an engine, and is ours until it is settled. */
export interface PolledJob {
  /**
   * Runs it and settles it with the engine. Must not reject.
   * @param signal aborted when the worker can wait no longer
   */
  run(signal: AbortSignal): Promise<void>;
  /** Hands it back to the engine, unsettled: what `run` settles afterwards must have no effect. */
  release(): Promise<void>;
}

/** What there was to do, when the engine was asked. */
export interface PollResult {
  jobs: PolledJob[];
  /** When the engine will have more; milliseconds from now, where it knows. */
  nextIn?: number | undefined;
}

export interface PollingWorkerOptions {
  /** Takes up to `most` jobs from the engine. */
  take(most: number): Promise<PollResult>;
  /** Jobs run at once. */
  concurrency: number;
  /** Milliseconds until an engine that had nothing, or failed, is asked again. */
  pollEvery: number;
  /** Told when `take` or `giveBack` failed; the worker goes on. */
  onError(error: unknown): void;
}

/** A running worker. */
export interface PollingWorker {
  /** Takes no new jobs until `resume()`. Running ones go on. */
  pause(): void;
  resume(): void;
  /** Asks the engine now. */
  wake(): void;
  /**
   * Takes no new job, waits for the running ones, aborts those that are not done in time and hands
   * them back.
   * @param options.graceMs milliseconds to wait; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

const GRACE_MS = 10_000;

/** The loop of a worker that asks its engine for jobs: for those who write a queue of their own. */
export function startPollingWorker(options: PollingWorkerOptions): PollingWorker {
  const { concurrency, pollEvery } = options;
  const onError = (error: unknown) => {
    options.onError(error);
  };
  const running = new Map<PolledJob, Promise<void>>();
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paused = false;
  let closing: Promise<void> | undefined;
  let pulling: Promise<void> | undefined;
  let again = false;

  const mayTake = () => !paused && !closing && running.size < concurrency;
  const wake = (): void => {
    again = true;
    pulling ??= pull().finally(() => {
      pulling = undefined;
      if (again && mayTake()) wake(); // asked for when the loop was at its end
    });
  };

  async function pull(): Promise<void> {
    while (again && mayTake()) {
      again = false;
      clearTimeout(timer);
      const most = concurrency - running.size;
      const { jobs, nextIn = pollEvery } = await options
        .take(most)
        .catch((error: unknown): PollResult => {
          onError(error);
          return { jobs: [] };
        });
      // Closed meanwhile: nothing may begin any more.
      if (closing) await Promise.all(jobs.map(back));
      else for (const job of jobs) start(job);
      if (jobs.length === most) again = true;
      else timer = setTimeout(wake, Math.max(1, Math.min(pollEvery, nextIn)));
    }
  }

  function start(job: PolledJob): void {
    const run = job.run(stop.signal).finally(() => {
      running.delete(job);
      wake();
    });
    running.set(job, run);
  }

  const back = (job: PolledJob) => job.release().catch(onError);

  async function close(graceMs: number): Promise<void> {
    clearTimeout(timer);
    await pulling;
    clearTimeout(timer);
    let late: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<void>((resolve) => (late = setTimeout(resolve, graceMs)));
    await Promise.race([Promise.all(running.values()), tooLate]);
    clearTimeout(late);
    stop.abort();
    await Promise.all([...running.keys()].map(back));
  }

  wake();
  return {
    wake,
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      wake();
    },
    close: ({ graceMs = GRACE_MS } = {}) =>
      (closing ??= Promise.resolve().then(() => close(graceMs))),
  };
}
