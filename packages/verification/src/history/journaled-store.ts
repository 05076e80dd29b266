import type { Claim, DoneMark, Store } from '@call-webhooks/core';
import { monotonicMs, type Journal } from './journal.ts';

/** Close to the receiver's limit of 1 s, after which it treats the call as failed. */
const SLOW_MS = 700;

/** Journals the leases that a store grants and takes back, as its caller sees them. */
export function journaledStore(store: Store, journal: Journal): Store {
  const { pid } = process;

  async function timed<T>(
    call: () => Promise<T>,
  ): Promise<{ result: T; at: number; until: number }> {
    const at = monotonicMs();
    let failed = true;
    try {
      const result = await call();
      failed = false;
      return { result, at, until: monotonicMs() };
    } finally {
      const until = monotonicMs();
      if (failed || until - at > SLOW_MS)
        journal.write({ kind: 'fault', fault: 'store', pid, at, until });
    }
  }

  const settle = async (
    how: 'complete' | 'release',
    key: string,
    token: string,
    mark?: DoneMark,
  ) => {
    journal.write({ kind: 'settling', how, at: monotonicMs(), pid, key, token });
    const { result: held, at, until } = await timed(() => store[how](key, token, mark));
    journal.write({ kind: 'settled', how, at, until, pid, key, token, held });
    return held;
  };

  return {
    async admit(claim: Claim) {
      const { result, at, until } = await timed(() => store.admit(claim));
      const { key, token, leaseMs } = claim;
      if (result.status === 'admitted' && key !== undefined) {
        const { attempt } = result;
        journal.write({ kind: 'claimed', at, until, pid, key, token, attempt, leaseMs });
      }
      return result;
    },
    complete: (key, token, mark) => settle('complete', key, token, mark),
    release: (key, token) => settle('release', key, token),
    async extend(key, token, leaseMs) {
      const { result: held, at, until } = await timed(() => store.extend(key, token, leaseMs));
      if (held) journal.write({ kind: 'renewed', at, until, pid, key, token, leaseMs });
      return held;
    },
  };
}
