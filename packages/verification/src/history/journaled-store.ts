import type { Store } from '@call-webhooks/core';
import type { Claim, DoneMark } from '@call-webhooks/core/stores';
import { monotonicMs, type Journal } from './journal.ts';
import { NOTICED_MS } from './monitors.ts';

/** Journals the leases that a store grants and takes back, as its caller sees them. */
export function journaledStore(store: Store, journal: Journal): Store {
  const { pid } = process;

  async function timed<T>(
    call: () => Promise<T>,
  ): Promise<{ result: T; at: number; until: number }> {
    const at = monotonicMs();
    const notice = () =>
      journal.write({ kind: 'fault', fault: 'store', pid, at, until: monotonicMs() });
    // Before the answer as well: this process may be killed while it waits.
    const timer = setTimeout(notice, NOTICED_MS);
    let failed = true;
    try {
      const result = await call();
      failed = false;
      return { result, at, until: monotonicMs() };
    } finally {
      clearTimeout(timer);
      if (failed || monotonicMs() - at > NOTICED_MS) notice();
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

  /** Tokens whose transactions may be committed. Their claims are repeated, to learn of it. */
  const completing = new Set<string>();
  const completeIn = (tx: unknown, key: string, token: string) => {
    journal.write({ kind: 'settling', how: 'complete', at: monotonicMs(), pid, key, token });
    completing.add(token);
    return store.completeIn?.(tx, key, token) ?? false;
  };

  return {
    async admit(claim: Claim) {
      const { result, at, until } = await timed(() => store.admit(claim));
      const { key, token, leaseMs } = claim;
      if (result.status === 'duplicate' && key !== undefined && completing.has(token))
        journal.write({
          ...{ kind: 'settled', how: 'complete', at, until, pid, key, token, held: true },
          isLearned: true,
        });
      if (result.status === 'admitted' && key !== undefined) {
        const { attempt } = result;
        journal.write({ kind: 'claimed', at, until, pid, key, token, attempt, leaseMs });
      }
      return result;
    },
    complete: (key, token, mark) => settle('complete', key, token, mark),
    ...(store.completeIn && { completeIn }),
    release: (key, token) => settle('release', key, token),
    async extend(key, token, leaseMs) {
      const { result: held, at, until } = await timed(() => store.extend(key, token, leaseMs));
      if (held) journal.write({ kind: 'renewed', at, until, pid, key, token, leaseMs });
      return held;
    },
  };
}
