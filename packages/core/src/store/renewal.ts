import type { Deadlines } from '../time.ts';

/** A lease, and how it is renewed. */
export interface RenewedLease {
  /** Milliseconds between two renewals. A third of the lease leaves time for a second try. */
  readonly every: number;
  /**
   * Renews it. Resolves with `false` if it was lost. Errors are ignored: the next renewal, or the end
   * of the work, will show whether it was lost.
   */
  readonly renew: () => Promise<boolean>;
  /**
   * Called once, when a renewal resolved with `false`. It is not called after the renewals were
   * stopped.
   */
  readonly onLost: () => void;
  /** How to wait: `ownTimer`, or the `in` of `Deadlines` for a timer that is shared. */
  readonly wait: Deadlines['in'];
}

/**
 * Renews a lease again and again until it is lost or stopped. A renewal that hangs delays no other.
 * For everything that is leased: events, jobs, dead letters, tasks.
 * @param since when it was taken; milliseconds of `performance.now()`, now by default
 * @returns stops it
 */
export function keepRenewed(
  { every, renew, onLost, wait }: RenewedLease,
  since = performance.now(),
): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof wait> | undefined;
  const stop = () => {
    isStopped = true;
    timer?.cancel();
  };
  const renewOnce = async () => {
    let isHeld = true;
    try {
      isHeld = await renew();
    } catch {
      // The next renewal will show whether it was lost.
    }
    if (isHeld || isStopped) return;
    stop();
    onLost();
  };
  const keep = async () => {
    for (let from = since; !isStopped; from = performance.now()) {
      const waitingFrom = from;
      // A promise, so that what comes next runs in the async context of the caller.
      await new Promise<void>((resolve) => {
        timer = wait(every, resolve, waitingFrom);
      });
      void renewOnce();
    }
  };
  void keep();
  return stop;
}
