import { apartFromRequests } from '#platform';
import { callHook } from '../report/hooks.ts';
import { RELEASE_MS, waitAtMost } from '../time.ts';
import { type WorkerHealth, WorkerNotes } from './worker-health.ts';
import { RunningJobs } from './running-jobs.ts';

/** A job that was taken from an engine. It belongs to this worker until it is settled or released. */
export interface PolledJob {
  /**
   * Runs the job and settles it with the engine. Should not reject.
   * @param signal of this job alone; aborted when `close()` has waited long enough
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the job to the engine. Anything that `run` settles afterwards must have no effect. */
  release(): Promise<void>;
}

/** What an engine had to do. */
export interface PollResult {
  jobs: PolledJob[];
  /** Milliseconds until the engine has more jobs, if it knows. */
  nextIn?: number | undefined;
}

/** Options of `startPollingWorker`. */
export interface PollingWorkerOptions {
  /** Takes up to `limit` jobs from the engine. */
  take(limit: number): Promise<PollResult>;
  /** How many jobs run at once. */
  concurrency: number;
  /** The polling interval in milliseconds, while the engine has no jobs or fails. */
  pollEvery: number;
  /**
   * Called when `take`, `run` or `release` failed, or when `take` has had no answer for 30 s: once for
   * each outage, which ends when `take` succeeds. The worker goes on. Errors that this function throws
   * are ignored.
   */
  onError(error: unknown): void;
  /**
   * Resolves when the engine can hand out a job and take its result, for the worker's `health()`: it
   * makes a write that a job needs, such as one that is rolled back. It gets 2 s. Without it, `health()`
   * relies on the polls alone.
   */
  ping?(): Promise<unknown>;
  /** Called by `close()` after the last job, and waited for as long as `close()` may take. */
  onClosed?(): Promise<unknown>;
}

/** Options of the `close()` of a worker. */
export interface CloseOptions {
  /** Milliseconds to wait for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
}

/** A running worker. */
export interface PollingWorker {
  /** Takes no new jobs until `resume()`. Running jobs go on. */
  pause(): void;
  resume(): void;
  /** Polls the engine now. */
  wake(): void;
  /**
   * Whether a job that waits would be run, for a probe with `ready(worker)`: the worker is not closing and
   * not paused, its last poll succeeded, none waits for longer than 10 s, and `ping` resolves within 2 s.
   * Never rejects.
   */
  health(): Promise<WorkerHealth>;
  /**
   * Takes no new jobs, waits up to `graceMs` for running ones, aborts the others and releases them.
   * It ends within `graceMs` and one second, even if the engine does not answer. Never rejects.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** How long `close()` of a worker waits for running jobs by default, in milliseconds. */
export const DEFAULT_GRACE_MS = 10_000;
/**
 * An engine that has not answered a poll for this long is reported as down by `health()`; milliseconds.
 */
const POLL_WITHIN_MS = 10_000;
/** After this long without an answer, `onError` is called as well; milliseconds. */
const TELL_AFTER_MS = 30_000;

/**
 * Polls an engine for jobs and runs them: the loop for your own queue.
 * @example
 * const worker = startPollingWorker({ take, concurrency: 4, pollEvery: 500, onError: console.error });
 * await worker.close({ graceMs: 5_000 });
 */
export function startPollingWorker(options: PollingWorkerOptions): PollingWorker {
  const { concurrency, pollEvery } = options;
  const running = new RunningJobs<PolledJob>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paused = false;
  let closing: Promise<void> | undefined;
  let polling: Promise<void> | undefined;
  let pollAgain = false;
  let pollingSince: number | undefined;
  const notes = new WorkerNotes();
  /** The first error of the outage. */
  let failure: { error: unknown } | undefined;
  /** The error of the last poll, if it failed. */
  let pollFailure: { error: unknown } | undefined;

  const onError = (error: unknown): void => {
    if (closing || failure) return; // the engine may be closed already
    failure = { error };
    callHook((thrown) => options.onError(thrown), error);
  };
  const canTake = () => !paused && !closing && running.size < concurrency;
  // Apart from the request that wakes the worker, and each job apart from the others.
  const wake = apartFromRequests((): void => {
    pollAgain = true;
    polling ??= poll().finally(() => {
      polling = undefined;
      if (pollAgain && canTake()) wake(); // requested while the loop was ending
    });
  });
  const start = apartFromRequests((job: PolledJob): void => void run(job));

  async function poll(): Promise<void> {
    while (pollAgain && canTake()) {
      pollAgain = false;
      clearTimeout(timer);
      const limit = concurrency - running.size;
      const { jobs, nextIn = pollEvery } = await take(limit);
      if (closing) {
        await Promise.all(jobs.map(release));
        return; // no timer: the engine may answer after `close` has ended
      }
      for (const job of jobs) start(job);
      if (jobs.length === limit) pollAgain = true;
      else timer = setTimeout(wake, Math.max(1, Math.min(pollEvery, nextIn)));
    }
  }

  async function take(limit: number): Promise<PollResult> {
    pollingSince = performance.now();
    const unanswered = setTimeout(() => onError(noAnswer(TELL_AFTER_MS)), TELL_AFTER_MS);
    // An engine that never answers must not keep a closed worker's process alive.
    if (typeof unanswered === 'object') unanswered.unref();
    try {
      const taken = await options.take(limit);
      if (!Array.isArray((taken as PollResult | undefined)?.jobs))
        throw new TypeError('take() has to resolve with { jobs: [] }.');
      failure = pollFailure = undefined;
      notes.contact();
      return taken;
    } catch (error) {
      pollFailure = { error };
      onError(error);
      return { jobs: [] };
    } finally {
      clearTimeout(unanswered);
      pollingSince = undefined;
    }
  }

  /** @throws what keeps jobs from being run */
  async function check(): Promise<void> {
    const waitedMs = pollingSince === undefined ? 0 : performance.now() - pollingSince;
    if (waitedMs > POLL_WITHIN_MS) throw noAnswer(waitedMs);
    if (pollFailure) throw pollFailure.error;
    if (!options.ping) return;
    await options.ping();
    notes.contact();
  }

  async function run(job: PolledJob): Promise<void> {
    await running.run(job, async (signal) => job.run(signal)).catch(onError);
    notes.jobEnded();
    wake();
  }

  async function release(job: PolledJob): Promise<void> {
    try {
      await job.release();
    } catch (error) {
      onError(error);
    }
  }

  async function close(graceMs: number): Promise<void> {
    clearTimeout(timer);
    const endsAt = performance.now() + graceMs + RELEASE_MS;
    await waitAtMost(graceMs, Promise.all([polling, running.idle()]));
    clearTimeout(timer);
    running.abort();
    await waitAtMost(RELEASE_MS, Promise.all(running.ids().map(release)));
    await waitAtMost(endsAt - performance.now(), (async () => options.onClosed?.())());
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
    health: () =>
      notes.health({
        closing: closing !== undefined,
        paused: () => paused,
        running: running.size,
        check,
      }),
    close: ({ graceMs = DEFAULT_GRACE_MS } = {}) =>
      (closing ??= Promise.resolve().then(() => close(graceMs))),
  };
}

const noAnswer = (ms: number) =>
  new Error(
    `The queue has not answered a poll for ${String(Math.round(ms / 1_000))} s. Its connection may be dead.`,
  );
