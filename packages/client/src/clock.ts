import { TimeoutError, type TimeoutPhase } from './errors.ts';

/**
 * The source of time of the client. A test can replace it, so that backoff and timeouts do not wait.
 */
export interface Clock {
  /** Returns the time of the wall clock, in milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once after `delay` milliseconds. The returned function cancels it. */
  schedule(delay: number, callback: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delay, callback) {
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  },
};

/** Waits `delay` milliseconds. Rejects with `signal.reason` as soon as the signal is aborted. */
export async function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  let cancel: (() => void) | undefined;
  const waited = new Promise<void>((resolve) => (cancel = clock.schedule(delay, resolve)));
  await orAbort(waited, signal).finally(cancel);
}

/**
 * Settles like `promise`, or rejects with `signal.reason` as soon as the signal is aborted, even if
 * the work behind the promise ignores the signal.
 */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

/** Combines the caller's signal with a time limit for each step of a request. */
export interface Deadline {
  /** Aborted by the caller's signal, or with a TimeoutError. */
  readonly signal: AbortSignal;
  /** Runs one step of a request, with a limit. A TimeoutError has what `note` returns. */
  run<T>(phase: TimeoutPhase, step: () => Promise<T>, note?: () => string): Promise<T>;
  /** Stops listening to the caller's signal. */
  close(): void;
}

/** Creates the deadline of one attempt. `timeout` is the limit of each step, in milliseconds. */
export function createDeadline(
  clock: Clock,
  timeout: number,
  request: string,
  caller: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const follow = (): void => controller.abort(caller?.reason);
  if (caller?.aborted) follow();
  caller?.addEventListener('abort', follow, { once: true });
  return {
    signal,
    async run(phase, step, note) {
      signal.throwIfAborted();
      const cancel = clock.schedule(timeout, () =>
        controller.abort(new TimeoutError(request, phase, timeout, note?.())),
      );
      try {
        return await orAbort(step(), signal);
      } catch (error) {
        // Runtimes differ in what fetch throws after an abort. The reason of the signal is the same.
        signal.throwIfAborted();
        throw error;
      } finally {
        cancel();
      }
    },
    close: () => caller?.removeEventListener('abort', follow),
  };
}
