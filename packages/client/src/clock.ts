/** The client's source of time. A test can replace it, so that backoff and timeouts do not wait. */
export interface Clock {
  /** The wall clock, in epoch milliseconds. */
  now(): number;
  /** Calls back once after `delay` milliseconds. The returned function cancels that. */
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
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const cancel = clock.schedule(delay, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
