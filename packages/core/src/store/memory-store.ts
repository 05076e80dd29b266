import { checkOptions, option } from '../check-options.ts';
import { docsUrl } from '../outcome/webhook-error.ts';
import { callHook, safeLogger, type Logger } from '../reporting/logger.ts';
import { hash53 } from './hash53.ts';
import { IdCache } from './id-cache.ts';
import type { Admission, Claim, DoneMark, StoreWithoutCompleteIn } from './store.ts';
import { syncMethod } from './sync-store.ts';

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** How many webhook ids, and how many events, are remembered: 1 to 1e9. Default: 100,000. */
  maxEntries?: number | undefined;
  /**
   * How long a handled event is known as a duplicate, in milliseconds. Default: 24 hours. At least
   * 10 minutes, because the service retries.
   */
  rememberFor?: number | undefined;
  /**
   * A clock for tests, in milliseconds. Default: `Date.now` for webhook ids, whose signatures are
   * dated by the wall clock, and `performance.now` for leases and events, which must not change when
   * the wall clock is set.
   */
  now?: (() => number) | undefined;
  /**
   * Called when a webhook id or an event is evicted before its time because `maxEntries` is too
   * small. Default: `logger` gets one warning. What it throws, or rejects with, is ignored.
   */
  onEvicted?: ((evicted: { kind: 'webhook-id' | 'event' }) => void) | undefined;
  /** Gets a warning if ids are evicted; `console` by default. */
  logger?: Logger | undefined;
}

interface Lease {
  readonly token: string;
  readonly attempt: number;
  readonly group: string | undefined;
  until: number;
}

/** The values of done events. The value of any other is the number of its failed attempts. */
const DONE = -1;
const DEAD_LETTERED = -2;

const rules = () => ({
  maxEntries: option.default(option.count(1, 1e9), 100_000),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  onEvicted: option.optional(option.function<NonNullable<MemoryStoreOptions['onEvicted']>>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * A store for one process: leases, webhook ids and events in bounded memory.
 *
 * Live leases are never evicted: the receiver's `maxInFlight` bounds them. Everything is lost when
 * the process ends, and other processes know nothing of it.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function memoryStore(options: MemoryStoreOptions = {}): StoreWithoutCompleteIn {
  const checked = checkOptions('memoryStore', rules(), options);
  const { maxEntries, rememberFor, now, logger, onEvicted = warnOnce(logger) } = checked;
  const readWallClock = now ?? Date.now;
  const readMonotonicClock = now ?? (() => performance.now());
  // Read once for each call, so that all of a call happens at one time.
  let wallTime = 0;
  let monotonicTime = readMonotonicClock();
  /** By the monotonic clock: no event that was done since then is forgotten before its time. */
  let knownSince = monotonicTime;
  const leases = new Map<string, Lease>();
  /** By group: the key of its event that holds a lease. */
  const groups = new Map<string, string>();
  /** By webhook id: a hash of the token of its claim. */
  const webhookIds = new IdCache(
    maxEntries,
    () => wallTime,
    () => {
      callHook(onEvicted, { kind: 'webhook-id' });
    },
  );
  /** By event key: `DONE`, `DEAD_LETTERED`, or the number of failed attempts. */
  const events = new IdCache(
    maxEntries,
    () => monotonicTime,
    (msLeft) => {
      knownSince = Math.max(knownSince, monotonicTime + msLeft - rememberFor);
      callHook(onEvicted, { kind: 'event' });
    },
  );
  const cursors = new Map<string, string | undefined>();

  function admit({ webhookId, replayUntil, key, leaseMs, token, group }: Claim): Admission {
    wallTime = readWallClock();
    monotonicTime = readMonotonicClock();
    const tokenHash = hash53(token);
    const seenWith = webhookIds.get(webhookId);
    if (seenWith !== undefined && seenWith !== tokenHash) return { status: 'replayed' };
    webhookIds.set(webhookId, tokenHash, Math.max(1, replayUntil - wallTime));
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    endExpiredLeases();
    const live = liveLease(key);
    // The same token again: the answer to the first try of this claim was lost.
    if (live)
      return live.token === token
        ? { status: 'admitted', attempt: live.attempt }
        : { status: 'in-progress' };
    const past = events.get(key) ?? 0;
    if (past === DONE) return { status: 'duplicate' };
    if (past === DEAD_LETTERED) return { status: 'dead-lettered' };
    if (group !== undefined) {
      const running = groups.get(group);
      if (running !== undefined && liveLease(running)) return { status: 'group-busy' };
      groups.set(group, key);
    }
    leases.set(key, { token, attempt: past + 1, group, until: monotonicTime + leaseMs });
    return { status: 'admitted', attempt: past + 1 };
  }

  /** Leases that ran out become failed attempts. Those of equal lengths are in order of their ends. */
  function endExpiredLeases(): void {
    for (const [key, lease] of leases) {
      if (lease.until > monotonicTime) return;
      endLease(key, lease, lease.attempt);
    }
  }

  function endLease(key: string, { group }: Lease, past: number): void {
    leases.delete(key);
    if (group !== undefined) groups.delete(group);
    events.set(key, past, rememberFor);
  }

  /** Checks the end again: leases of different lengths are not in order. */
  function liveLease(key: string): Lease | undefined {
    const lease = leases.get(key);
    if (!lease || lease.until > monotonicTime) return lease;
    endLease(key, lease, lease.attempt);
    return undefined;
  }

  function heldLease(key: string, token: string): Lease | undefined {
    monotonicTime = readMonotonicClock();
    const lease = liveLease(key);
    return lease?.token === token ? lease : undefined;
  }

  function complete(key: string, token: string, mark?: DoneMark): boolean {
    const lease = heldLease(key, token);
    if (lease) endLease(key, lease, mark === undefined ? DONE : DEAD_LETTERED);
    return lease !== undefined;
  }

  function release(key: string, token: string): boolean {
    const lease = heldLease(key, token);
    if (lease) endLease(key, lease, lease.attempt);
    return lease !== undefined;
  }

  function extend(key: string, token: string, leaseMs: number): boolean {
    const lease = heldLease(key, token);
    if (!lease) return false;
    leases.delete(key); // set again at the end, which keeps the order
    leases.set(key, { ...lease, until: monotonicTime + leaseMs });
    return true;
  }

  function reopen(key: string): boolean {
    monotonicTime = readMonotonicClock();
    if (events.get(key) !== DEAD_LETTERED) return false;
    events.set(key, 0, rememberFor);
    return true;
  }

  return {
    get rememberFor() {
      return Math.min(rememberFor, Math.max(0, readMonotonicClock() - knownSince));
    },
    admit: syncMethod(admit),
    complete: syncMethod(complete),
    release: syncMethod(release),
    extend: syncMethod(extend),
    reopen: syncMethod(reopen),
    loadCursor: (name) => Promise.resolve(cursors.get(name)),
    saveCursor: (name, cursor) => Promise.resolve(void cursors.set(name, cursor)),
    ping: () => Promise.resolve(),
  };
}

function warnOnce(logger: Logger): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const message =
      'the memory store is full and is evicting ids early. Raise maxEntries, or use a Redis, Postgres, SQLite or Durable Objects store.';
    safeLogger(logger).warn({ docs: docsUrl('stores.md#memory') }, `call-webhooks: ${message}`);
  };
}
