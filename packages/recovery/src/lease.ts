import type { Clock } from '@call-webhooks/client';
import { keepRenewed } from '@call-webhooks/core/internal';
import { inTime } from './store-calls.ts';

/** A lease that is renewed until it is stopped. */
export interface KeptLease {
  /** Aborted if another process may have the lease: the store says so, or it was not renewed in time. */
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
  /** When it was first asked for: the store may have given it then, however late it answered; milliseconds of `clock`. */
  readonly takenAt: number;
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
  const { extend, leaseMs, takenAt, clock, every = leaseMs / 3, onRenewed, onError } = options;
  const controller = new AbortController();
  let heldSince = takenAt;
  let whyLost = 'Another process has taken the lease.';
  const renewOnce = async (): Promise<boolean> => {
    const asked = clock.now();
    try {
      if (!(await inTime('The renewal of a lease', extend, leaseMs / 6, clock))) return false;
      heldSince = asked;
      await onRenewed?.();
    } catch (error) {
      onError?.(error);
      whyLost = 'The lease ran out, since it could not be renewed.';
      return clock.now() - heldSince < leaseMs;
    }
    return true;
  };
  let renewal = Promise.resolve(true);
  // The clock may have been set in the meantime.
  let pause = Math.min(every, Math.max(0, takenAt + every - clock.now()));
  const stop = keepRenewed({
    every,
    renew: () => (renewal = renewal.then(renewOnce)),
    onLost: () => controller.abort(new Error(whyLost)),
    wait: (ms, onReached) => {
      const cancel = clock.schedule(pause, onReached);
      pause = ms;
      return { cancel };
    },
  });
  return {
    lost: controller.signal,
    async stop() {
      stop();
      await renewal;
    },
  };
}
