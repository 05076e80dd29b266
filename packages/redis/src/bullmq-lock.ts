/** What is used of BullMQ's `Job` to keep its lock. */
export interface LockedJob {
  /** Resolves with 0 if the token no longer holds the lock. */
  extendLock(token: string, duration: number): Promise<number>;
}

interface Renewal {
  /** How long a lock lasts; milliseconds. */
  duration: number;
  /** The run's. Once it is aborted, the lock is left to expire. */
  signal: AbortSignal;
  /** Called once if the lock was lost: the job may run elsewhere. */
  onLost: () => void;
}

/**
 * Renews the lock of one run of a job. BullMQ does so by the id of the job: when a run that lost its
 * lock ends, BullMQ stops renewing the lock of the run after it in the same process.
 * @returns stops renewing
 */
export function keepLock(
  job: LockedJob,
  token: string,
  { duration, signal, onLost }: Renewal,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  };
  const renew = async () => {
    const isLost = await job.extendLock(token, duration).then(
      (extended) => extended === 0,
      () => false, // Redis does not answer. At the end of the run, it refuses the result of a lost job.
    );
    if (stopped) return;
    if (isLost) onLost();
    else schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => void renew(), duration / 3);
  };
  signal.addEventListener('abort', stop, { once: true });
  schedule();
  return stop;
}
