import { systemClock } from '@call-webhooks/client';

/**
 * Renews a lease at every third of its length, until it is stopped.
 * @returns `lost` is aborted if somebody else may have it
 */
export function keepLease(
  extend: () => Promise<boolean>,
  leaseMs: number,
  clock = systemClock,
): { lost: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let cancel: () => void;
  const renew = async () => {
    renewLater();
    // If the store fails, the next renewal or the end will tell.
    const isHeld = await extend().catch(() => true);
    if (!isHeld) controller.abort(new Error('Another process has taken the lease.'));
  };
  const renewLater = () => {
    cancel = clock.schedule(leaseMs / 3, () => void renew());
  };
  renewLater();
  return {
    lost: controller.signal,
    stop: () => {
      cancel();
    },
  };
}
