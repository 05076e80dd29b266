import { LRUCache } from 'lru-cache';
import { checkOptions, option } from '../check-options.ts';
import { docsUrl } from '../errors.ts';
import { callHook } from '../report/hooks.ts';
import { safeLogger, type Logger } from '../report/logger.ts';
import { memoryLog } from './memory-log.ts';
import type { EventState } from './outcome-log.ts';
import type { Admission, Claim, StoreWithoutCompleteIn } from './store.ts';

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The maximum number of webhook ids, and the maximum number of events, that the store remembers: 1 to
   * 10,000,000, by default 100,000 of each. When the limit is reached, the oldest ones are forgotten
   * early, and `onEvicted` is called.
   */
  maxEntries?: number | undefined;
  /**
   * How long a handled event is recognized as a duplicate, in milliseconds: 600,000 (10 minutes) to 10
   * years, by default 86,400,000 (24 hours).
   */
  rememberFor?: number | undefined;
  /**
   * A clock for tests, in milliseconds. By default, webhook ids use `Date.now`, because their
   * signatures are dated by the wall clock, and leases and events use `performance.now`.
   */
  now?: (() => number) | undefined;
  /**
   * Called when a webhook id or an event is forgotten early because `maxEntries` is too small. By
   * default, one warning is logged with `logger`. Errors that it throws are ignored.
   */
  onEvicted?: ((evicted: { kind: 'webhook-id' | 'event' }) => void) | undefined;
  /** Where the warning goes if ids or events are forgotten early; `console` by default. */
  logger?: Logger | undefined;
}

const rules = () => ({
  maxEntries: option.default(option.count(1, 1e7), 100_000),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  onEvicted: option.optional(option.function<NonNullable<MemoryStoreOptions['onEvicted']>>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/** All calls share it: an object for each would be garbage at once. */
const ONE = { size: 1 };

/** A webhook id that was seen. */
interface SeenId {
  readonly token: string;
  /** Until when it is known, by the wall clock; milliseconds since the epoch. */
  readonly until: number;
}

/** What is known about an event without a lease. */
interface Past {
  /** The number of failed attempts, or how the event was done. */
  readonly attempts: number | 'handled' | 'dead-lettered';
  /** Until when that is known, by the monotonic clock; milliseconds. */
  readonly until: number;
}

interface MemoryLease {
  readonly key: string;
  readonly token: string;
  readonly attempt: number;
  readonly group: string | undefined;
  /** By the monotonic clock; milliseconds. */
  until: number;
}

/**
 * Creates a store in the memory of this process, for tests and for a receiver with a single process. It
 * remembers webhook ids, events and leases, within a bounded amount of memory. Everything is lost when
 * the process ends, and other processes do not see it.
 *
 * Leases that are in use are never forgotten: `maxInFlight` of the receiver limits their number.
 * @throws WebhookError `invalid-options`, which names every invalid option
 * @example
 * const store = memoryStore({ rememberFor: 3 * 86_400_000 });
 * const receiver = createReceiver({ secret, on, store });
 */
export function memoryStore(options: MemoryStoreOptions = {}): StoreWithoutCompleteIn {
  const { maxEntries, rememberFor, now, logger, ...checked } = checkOptions(
    'memoryStore',
    rules(),
    options,
  );
  const onEvicted = checked.onEvicted ?? warnOnce(logger);
  const wallTime = now ?? (() => Date.now());
  const monotonicTime = now ?? (() => performance.now());
  /** No event that was done since then has been forgotten early. */
  let knownSince = monotonicTime();

  // `maxSize` allocates nothing ahead, unlike `max`. Nothing expires by itself: the values say how
  // long they are valid.
  const ids = new LRUCache<string, SeenId>({
    maxSize: maxEntries,
    dispose({ until }, _id, reason) {
      if (reason === 'evict' && until >= wallTime()) callHook(onEvicted, { kind: 'webhook-id' });
    },
  });
  const events = new LRUCache<string, Past>({
    maxSize: maxEntries,
    dispose({ until }, _key, reason) {
      if (reason !== 'evict' || until < monotonicTime()) return;
      knownSince = Math.max(knownSince, until - rememberFor);
      callHook(onEvicted, { kind: 'event' });
    },
  });
  const leases = new Map<string, MemoryLease>();
  /** The key of the event of a group that runs. */
  const groups = new Map<string, string>();
  const cursors = new Map<string, string>();

  // The monotonic time is read once for each call: it is a tenth of what a delivery costs otherwise.

  /** @param at when it ended, which is earlier than now for a lease that has run out */
  function endLease({ key, group }: MemoryLease, attempts: Past['attempts'], at: number): void {
    leases.delete(key);
    if (group !== undefined) groups.delete(group);
    events.set(key, { attempts, until: at + rememberFor }, ONE);
  }

  /** The lease of an event, if it has not run out. */
  function liveLease(key: string, now: number): MemoryLease | undefined {
    const lease = leases.get(key);
    if (!lease || lease.until > now) return lease;
    endLease(lease, lease.attempt, lease.until);
    return undefined;
  }

  function heldLease(key: string, token: string, now: number): MemoryLease | undefined {
    const lease = liveLease(key, now);
    return lease?.token === token ? lease : undefined;
  }

  /**
   * Ends the leases that have run out and are not claimed again. Leases of equal length are in the
   * order of their ends.
   */
  function endExpired(now: number): void {
    for (const lease of leases.values()) {
      if (lease.until > now) return;
      endLease(lease, lease.attempt, lease.until);
    }
  }

  function admit({ webhookId, replayUntil, key, leaseMs, token, group }: Claim): Admission {
    const seen = ids.peek(webhookId);
    if (seen && seen.until >= wallTime() && seen.token !== token) return { status: 'replayed' };
    if (seen?.token !== token) ids.set(flat(webhookId), { token, until: replayUntil }, ONE);
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const now = monotonicTime();
    endExpired(now);
    const lease = liveLease(key, now);
    if (lease) {
      // The same token again: the answer to the first try of this claim was lost.
      const isOwn = lease.token === token;
      return isOwn ? { status: 'admitted', attempt: lease.attempt } : { status: 'in-progress' };
    }
    const past = events.peek(key);
    const attempts = past && past.until >= now ? past.attempts : 0;
    if (attempts === 'handled') return { status: 'duplicate' };
    if (attempts === 'dead-lettered') return { status: attempts };
    if (group !== undefined) {
      const running = groups.get(group);
      if (running !== undefined && liveLease(running, now)) return { status: 'group-busy' };
      groups.set(group, key);
    }
    const attempt = attempts + 1;
    const own = flat(key);
    leases.set(own, { key: own, token, attempt, group, until: now + leaseMs });
    return { status: 'admitted', attempt };
  }

  function end(key: string, token: string, as?: Past['attempts']): boolean {
    const now = monotonicTime();
    const lease = heldLease(key, token, now);
    if (lease) endLease(lease, as ?? lease.attempt, now);
    return lease !== undefined;
  }

  function extend(key: string, token: string, leaseMs: number): boolean {
    const now = monotonicTime();
    const lease = heldLease(key, token, now);
    if (!lease) return false;
    lease.until = now + leaseMs;
    leases.delete(key); // set again at the end, which keeps the order
    leases.set(key, lease);
    return true;
  }

  function reopen(key: string): boolean {
    const past = events.peek(key);
    if (past?.attempts !== 'dead-lettered' || past.until < monotonicTime()) return false;
    events.set(key, { attempts: 0, until: monotonicTime() + rememberFor }, ONE);
    return true;
  }

  function forget(key: string): boolean {
    return !liveLease(key, monotonicTime()) && events.delete(key);
  }

  function stateOf(key: string): EventState | undefined {
    const now = monotonicTime();
    if (liveLease(key, now)) return 'running';
    const past = events.peek(key);
    if (!past || past.until < now || past.attempts === 0) return undefined;
    return typeof past.attempts === 'number' ? 'failed' : past.attempts;
  }

  return {
    get rememberFor() {
      return Math.min(rememberFor, Math.max(0, monotonicTime() - knownSince));
    },
    admit: async (claim) => admit(claim),
    complete: async (key, token, mark) => end(key, token, mark ?? 'handled'),
    release: async (key, token) => end(key, token),
    extend: async (key, token, leaseMs) => extend(key, token, leaseMs),
    reopen: async (key) => reopen(key),
    forget: async (keys) => keys.filter(forget).length,
    loadCursor: async (name) => cursors.get(name),
    async saveCursor(name, cursor) {
      if (cursor === undefined) cursors.delete(name);
      else cursors.set(name, cursor);
    },
    peek: async (keys) => keys.map(stateOf),
    log: memoryLog(wallTime),
    ping: async () => undefined,
  };
}

/**
 * A copy of a string in its own memory: `join` always copies. A string that was cut out of another one
 * keeps all of the other alive, so an id would hold on to a whole header or body.
 */
const flat = (text: string): string => [text.slice(0, 1), text.slice(1)].join('');

function warnOnce(logger: Logger): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const message =
      'the memory store is full and is evicting ids early, so replays or duplicates may go unnoticed. Raise maxEntries, or use a Redis, Postgres, MySQL, SQLite or Durable Objects store.';
    safeLogger(logger).warn({ docs: docsUrl('stores.md#memory') }, `call-webhooks: ${message}`);
  };
}
