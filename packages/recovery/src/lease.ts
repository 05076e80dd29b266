import type { Clock } from '@call-webhooks/client';
import { inTime } from './store-calls.ts';

/** A lease that is renewed until it is stopped. */
export interface KeptLease {
  /** Aborted if somebody else may have the lease: the store says so, or it was not renewed in time. */
  readonly lost: AbortSignal;
  /** Renews it no more. Resolves when a renewal that was under way has ended; never rejects. */
  stop(): Promise<void>;
}

/** How a lease is kept. */
export interface LeaseOptions {
  /** Makes the lease end `leaseMs` milliseconds from now, and resolves with whether it is still held. */
  readonly extend: () => Promise<boolean>;
  /** How long the lease lasts unless it is renewed; milliseconds. */
  readonly leaseMs: number;
  readonly clock: Clock;
  /** The time between two renewals, a third of the lease by default; milliseconds. */
  readonly every?: number;
  /** Called after each renewal, and waited for before the next one. It must not reject. */
  readonly onRenewed?: () => Promise<unknown>;
  /** Told of each renewal that failed or did not end in time. The next one may succeed. */
  readonly onError?: (error: unknown) => unknown;
}

/**
 * Renews a lease, one call at a time, until it is stopped. Whether it is still held, the store knows: only
 * while that fails, a lease that has run out is taken for lost.
 */
export function keepLease(options: LeaseOptions): KeptLease {
  const { extend, leaseMs, clock, every = leaseMs / 3, onRenewed, onError } = options;
  const controller = new AbortController();
  let heldSince = clock.now();
  let isOver = false;
  let cancel: () => void;
  let renewal = Promise.resolve();
  const renewLater = () => {
    if (isOver) return;
    cancel = clock.schedule(every, () => {
      renewal = renew();
    });
  };
  const lose = (why: string) => {
    isOver = true;
    controller.abort(new Error(why));
  };
  const renew = async () => {
    const asked = clock.now();
    try {
      if (await inTime('The renewal of a lease', extend, leaseMs / 6, clock)) {
        heldSince = asked;
        await onRenewed?.();
      } else if (!isOver) lose('Another process has taken the lease.');
    } catch (error) {
      onError?.(error);
      if (!isOver && clock.now() - heldSince >= leaseMs)
        lose('The lease ran out, since it could not be renewed.');
    }
    renewLater();
  };
  renewLater();
  return {
    lost: controller.signal,
    stop: () => {
      isOver = true;
      cancel();
      return renewal;
    },
  };
}
