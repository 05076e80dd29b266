import { promised } from './at-once.ts';
import { fingerprintOf } from './remembered/hash.ts';
import { Remembered } from './remembered/remembered.ts';
import type { Admission, Claim, Store } from './store.ts';

export interface MemoryStoreOptions {
  /** How many webhook ids are remembered, and how many events; 100,000 of each by default. */
  maxEntries?: number | undefined;
  /** How long a handled event is known as a duplicate; milliseconds, 24 hours by default. */
  rememberFor?: number | undefined;
  /** The clock, in milliseconds; `Date.now` by default. */
  now?: (() => number) | undefined;
  /** Told when something is forgotten before its time: `maxEntries` is too small. Warns once by default. */
  onEvicted?: ((evicted: { kind: 'webhook-id' | 'event' }) => void) | undefined;
}

interface Lease {
  readonly token: string;
  readonly attempt: number;
  until: number;
}

/** What is remembered of an event that is done; of others it is how many attempts failed. */
const DONE = -1;

const DAY_MS = 86_400_000;

/**
 * The store for one process: leases, webhook ids and events in bounded memory.
 *
 * Live leases are never evicted (the receiver's `maxInFlight` bounds them). Everything is forgotten
 * when the process ends, and other machines know nothing of it.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const {
    maxEntries = 100_000,
    rememberFor = DAY_MS,
    now = Date.now,
    onEvicted = warnOnce(),
  } = options;
  const leases = new Map<string, Lease>();
  /** One look at the clock for each call: all that it does is at one time. */
  let at = now();
  /** Each with the fingerprint of the token that it came with. */
  const webhookIds = remembered('webhook-id');
  /** Each with `DONE`, or the number of its failed attempts. */
  const events = remembered('event');

  function remembered(kind: 'webhook-id' | 'event') {
    return new Remembered(maxEntries, () => {
      try {
        onEvicted({ kind });
      } catch {
        // A hook that fails must not refuse a delivery.
      }
    });
  }

  /** Leases that ran out become failed attempts. They lie about in the order in which they run out. */
  function sweep(): void {
    for (const [key, lease] of leases) {
      if (lease.until > at) return;
      end(key, lease.attempt);
    }
  }

  function end(key: string, past: number): void {
    leases.delete(key);
    events.set(key, past, at + rememberFor, at);
  }

  function admit(claim: Claim): Admission {
    at = now();
    const { webhookId, token, key, leaseMs } = claim;
    const print = fingerprintOf(token);
    const seenWith = webhookIds.get(webhookId, at);
    if (seenWith !== undefined && seenWith !== print) return { status: 'replayed' };
    webhookIds.set(webhookId, print, Math.max(at + 1, claim.replayUntil), at);
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    sweep();
    const live = liveLease(key);
    // The same token once more: the claim's first answer was lost.
    if (live)
      return live.token === token
        ? { status: 'admitted', attempt: live.attempt }
        : { status: 'in-progress' };
    const past = events.get(key, at) ?? 0;
    if (past === DONE) return { status: 'duplicate' };
    leases.set(key, { token, attempt: past + 1, until: at + leaseMs });
    return { status: 'admitted', attempt: past + 1 };
  }

  /** Looked at by itself as well: leases of unequal lengths do not lie in order. */
  function liveLease(key: string): Lease | undefined {
    const lease = leases.get(key);
    if (!lease || lease.until > at) return lease;
    end(key, lease.attempt);
    return undefined;
  }

  function held(key: string, token: string): Lease | undefined {
    at = now();
    const lease = liveLease(key);
    return lease?.token === token ? lease : undefined;
  }

  function settle(key: string, token: string, past: (lease: Lease) => number): boolean {
    const lease = held(key, token);
    if (lease) end(key, past(lease));
    return lease !== undefined;
  }

  function extend(key: string, token: string, leaseMs: number): boolean {
    const lease = held(key, token);
    if (!lease) return false;
    leases.delete(key); // and in again at the end, which keeps the order
    leases.set(key, { ...lease, until: at + leaseMs });
    return true;
  }

  return {
    admit: promised(admit),
    complete: promised((key, token) => settle(key, token, () => DONE)),
    release: promised((key, token) => settle(key, token, (lease) => lease.attempt)),
    extend: promised(extend),
    ping: () => Promise.resolve(),
  };
}

function warnOnce(): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    console.warn(
      'call-webhooks: the memory store is full and forgets ids before their time. Raise maxEntries, or use a Redis, Postgres or SQLite store.',
    );
  };
}
