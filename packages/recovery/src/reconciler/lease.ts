import type { Clock } from '@call-webhooks/client';
import type { ReconcilerStore } from './options.ts';

/** How long a process that died keeps the others waiting; milliseconds. */
export const LEASE_MS = 60_000;

/**
 * Runs something in one process at a time. The lease is that of an event which never happens, and is
 * renewed until the run ends.
 * @param run its signal is aborted when the lease was lost
 * @returns `false` if another process has the lease
 */
export async function withLease(
  store: ReconcilerStore,
  name: string,
  clock: Clock,
  run: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const key = `call-webhooks.reconciler.${name}`;
  const token = crypto.randomUUID();
  const { status } = await store.admit({
    webhookId: token,
    replayUntil: clock.now() + LEASE_MS,
    key,
    leaseMs: LEASE_MS,
    token,
  });
  if (status !== 'admitted') return false;
  const lost = new AbortController();
  let cancel: (() => void) | undefined;
  const renewLater = () => {
    cancel = clock.schedule(LEASE_MS / 3, () => {
      renewLater();
      void store.extend(key, token, LEASE_MS).then(
        (held) => {
          if (!held) lost.abort(new Error('Another process has taken the lease.'));
        },
        () => undefined, // the next renewal will tell
      );
    });
  };
  renewLater();
  try {
    await run(lost.signal);
    return true;
  } finally {
    cancel?.();
    await store.release(key, token).catch(() => undefined);
  }
}
