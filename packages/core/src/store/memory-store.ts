import { LRUCache } from 'lru-cache';
import type { Awaitable } from '../awaitable.ts';
import { checkOptions, option } from '../check-options.ts';
import { docsUrl } from '../errors.ts';
import { callHook, type Logger, safeLogger } from '../report/logger.ts';
import type { Admission, Claim, DoneMark, Store, StoreWithoutCompleteIn } from './store.ts';

/** A webhook id that was seen. */
interface SeenId {
  /** The token of its claim. */
  readonly token: string;
  /** Until when it is known, by the wall clock; milliseconds since the epoch. */
  readonly until: number;
}

/**
 * An event that was claimed, with the webhook id that it first came with.
 *
 * The numbers are below 2^31, unless the process runs for weeks, so V8 keeps them in the object. A
 * larger one is an object of its own, which costs the garbage collector more (decision 11).
 */
interface KnownEvent {
  /** `DONE`, `DEAD_LETTERED`, or the number of failed attempts. */
  past: number;
  /** Until when that is known; whole milliseconds of the monotonic clock. Set when a lease ends. */
  until: number;
  /** A hash of the first webhook id. A retry whose id has the same hash is refused, and is sent again. */
  readonly idHash: number;
  /** A hash of the token of its claim. */
  readonly tokenHash: number;
  /** Until when the id is known, by the wall clock; whole seconds since the epoch. */
  readonly idUntil: number;
}

/** The values of `KnownEvent.past` for done events. */
const DONE = -1;
const DEAD_LETTERED = -2;

/**
 * A store for one process: leases, webhook ids and events in bounded memory.
 *
 * Live leases are never evicted: the receiver's `maxInFlight` bounds them. Everything is lost when
 * the process ends, and other processes know nothing of it.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function memoryStore(options: MemoryStoreOptions = {}): StoreWithoutCompleteIn {
  const { maxEntries, rememberFor, now, onEvicted } = checkMemoryStoreOptions(options);
  const readWallClock = now ?? Date.now;
  const readMonotonicClock = now ?? (() => performance.now());
  // Read once for each call, so that all of a call happens at one time.
  let wallTime = 0;
  let monotonicTime = readMonotonicClock();
  /** By the monotonic clock: no event that was done since then is forgotten before its time. */
  let knownSince = monotonicTime;
  /**
   * Most events come once, and a replay has the same bytes. If the key follows from them, the first
   * webhook id of an event is kept with it, and only the others are here.
   */
  const webhookIds = new IdCache<SeenId>(maxEntries, ({ until }) => {
    if (until >= readWallClock()) callHook(onEvicted, { kind: 'webhook-id' });
  });
  const events = new IdCache<KnownEvent>(maxEntries, ({ until, idUntil }) => {
    if (idUntil * 1000 >= readWallClock()) callHook(onEvicted, { kind: 'webhook-id' });
    if (until < monotonicTime) return;
    knownSince = Math.max(knownSince, until - rememberFor);
    callHook(onEvicted, { kind: 'event' });
  });
  const leases = new MemoryLeases<KnownEvent>((key, { event, attempt }) => {
    remember(key, event, attempt);
  });
  const cursors = new Map<string, string | undefined>();

  function admit(claim: Claim): Admission {
    const { webhookId, replayUntil, key, isKeyOfBody, leaseMs, token, group } = claim;
    wallTime = readWallClock();
    monotonicTime = readMonotonicClock();
    leases.endExpired(monotonicTime);
    const lease = key === undefined ? undefined : leases.live(key, monotonicTime);
    const event = lease?.event ?? (key === undefined ? undefined : events.get(key));
    const seen = seenBefore(claim, event);
    if (seen === 'replayed') return { status: 'replayed' };

    const isBusy = group !== undefined && leases.isBusy(group, monotonicTime);
    const isFirst = isKeyOfBody === true && key !== undefined && !event && !isBusy;
    if (!seen && !isFirst) webhookIds.set(webhookId, { token, until: replayUntil });
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    // The same token again: the answer to the first try of this claim was lost.
    if (lease)
      return lease.token === token
        ? { status: 'admitted', attempt: lease.attempt }
        : { status: 'in-progress' };
    const past = pastOf(event);
    if (past === DONE) return { status: 'duplicate' };
    if (past === DEAD_LETTERED) return { status: 'dead-lettered' };
    if (isBusy) return { status: 'group-busy' };
    leases.take(key, {
      token,
      attempt: past + 1,
      group,
      event: event ?? newEvent(isFirst ? claim : undefined),
      until: monotonicTime + leaseMs,
    });
    return { status: 'admitted', attempt: past + 1 };
  }

  /** Whether a webhook id was seen whose signature would still verify: with this claim or another. */
  function seenBefore(
    { webhookId, token }: Claim,
    event: KnownEvent | undefined,
  ): 'repeated' | 'replayed' | undefined {
    if (event && event.idUntil * 1000 >= wallTime && event.idHash === shortHash(webhookId))
      return event.tokenHash === shortHash(token) ? 'repeated' : 'replayed';
    const seen = webhookIds.get(webhookId);
    if (!seen || seen.until < wallTime) return undefined;
    return seen.token === token ? 'repeated' : 'replayed';
  }

  const pastOf = (event: KnownEvent | undefined): number =>
    event && event.until >= monotonicTime ? event.past : 0;

  function remember(key: string, event: KnownEvent, past: number): void {
    event.past = past;
    event.until = Math.ceil(monotonicTime + rememberFor);
    events.set(key, event);
  }

  function heldLease(key: string, token: string): MemoryLease<KnownEvent> | undefined {
    monotonicTime = readMonotonicClock();
    return leases.held(key, token, monotonicTime);
  }

  /** @param past what is known of the event from now on; the attempt counts as failed without it */
  function endLease(key: string, token: string, past?: number): boolean {
    const lease = heldLease(key, token);
    if (!lease) return false;
    leases.end(key, lease);
    remember(key, lease.event, past ?? lease.attempt);
    return true;
  }

  const complete = (key: string, token: string, mark?: DoneMark): boolean =>
    endLease(key, token, mark === undefined ? DONE : DEAD_LETTERED);

  const release = (key: string, token: string): boolean => endLease(key, token);

  function extend(key: string, token: string, leaseMs: number): boolean {
    const lease = heldLease(key, token);
    if (lease) leases.extend(key, lease, monotonicTime + leaseMs);
    return lease !== undefined;
  }

  function reopen(key: string): boolean {
    monotonicTime = readMonotonicClock();
    const event = events.get(key);
    if (!event || pastOf(event) !== DEAD_LETTERED) return false;
    remember(key, event, 0);
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

/** @param first the claim whose webhook id is kept with the event */
const newEvent = (first: Claim | undefined): KnownEvent => ({
  past: 0,
  until: 0,
  idHash: first ? shortHash(first.webhookId) : 0,
  tokenHash: first ? shortHash(first.token) : 0,
  idUntil: first ? Math.ceil(first.replayUntil / 1000) : -1,
});

/** 32 bits of a hash, as a small integer. */
const shortHash = (text: string): number => hash53(text) | 0;

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

const rules = () => ({
  maxEntries: option.default(option.count(1, 1e9), 100_000),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  onEvicted: option.optional(option.function<NonNullable<MemoryStoreOptions['onEvicted']>>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Checks the options and fills in the defaults.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function checkMemoryStoreOptions(options: MemoryStoreOptions) {
  const checked = checkOptions('memoryStore', rules(), options);
  return { ...checked, onEvicted: checked.onEvicted ?? warnOnce(checked.logger) };
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

/** The right to run one event. */
export interface MemoryLease<Event> {
  readonly token: string;
  readonly attempt: number;
  readonly group: string | undefined;
  readonly event: Event;
  /** On the clock that the calls pass as `now`; milliseconds. */
  readonly until: number;
}

/** The leases of a memory store: by key, and by group the key of the one event that runs. */
export class MemoryLeases<Event> {
  readonly #leases = new Map<string, MemoryLease<Event>>();
  readonly #groups = new Map<string, string>();
  readonly #onExpired: (key: string, lease: MemoryLease<Event>) => void;

  /** @param onExpired called with each lease that ran out, once it is gone */
  constructor(onExpired: (key: string, lease: MemoryLease<Event>) => void) {
    this.#onExpired = onExpired;
  }

  /** Ends the leases that ran out. Those of equal lengths are in order of their ends. */
  endExpired(now: number): void {
    for (const [key, lease] of this.#leases) {
      if (lease.until > now) return;
      this.#expire(key, lease);
    }
  }

  /** The lease of an event. Checks its end again: leases of different lengths are not in order. */
  live(key: string, now: number): MemoryLease<Event> | undefined {
    const lease = this.#leases.get(key);
    if (!lease || lease.until > now) return lease;
    this.#expire(key, lease);
    return undefined;
  }

  /** The lease of an event, if this token holds it. */
  held(key: string, token: string, now: number): MemoryLease<Event> | undefined {
    const lease = this.live(key, now);
    return lease?.token === token ? lease : undefined;
  }

  isBusy(group: string, now: number): boolean {
    const running = this.#groups.get(group);
    return running !== undefined && this.live(running, now) !== undefined;
  }

  take(key: string, lease: MemoryLease<Event>): void {
    this.#leases.set(key, lease);
    if (lease.group !== undefined) this.#groups.set(lease.group, key);
  }

  extend(key: string, lease: MemoryLease<Event>, until: number): void {
    this.#leases.delete(key); // set again at the end, which keeps the order
    this.#leases.set(key, { ...lease, until });
  }

  end(key: string, { group }: MemoryLease<Event>): void {
    this.#leases.delete(key);
    if (group !== undefined) this.#groups.delete(group);
  }

  #expire(key: string, lease: MemoryLease<Event>): void {
    this.end(key, lease);
    this.#onExpired(key, lease);
  }
}

/** A larger `Map` pauses the process for too long when it is rehashed, so ids are split over several. */
const MAX_ENTRIES_PER_CACHE = 2 ** 17;
/** All calls share it: an object for each would be garbage at once. */
const ONE = { size: 1 };

/**
 * Values by id, at most `maxEntries` of them. The value that was set longest ago is evicted first;
 * reading does not change that. Nothing expires by itself: the values say how long they are valid.
 */
export class IdCache<Value extends object> {
  readonly #caches: (LRUCache<string, Value> | undefined)[];
  readonly #maxPerCache: number;
  readonly #onEvicted: (value: Value) => void;

  /** @param onEvicted called with each value that has to make room; must not throw */
  constructor(maxEntries: number, onEvicted: (value: Value) => void) {
    const count = Math.ceil(maxEntries / MAX_ENTRIES_PER_CACHE);
    this.#caches = new Array<undefined>(count).fill(undefined);
    this.#maxPerCache = Math.floor(maxEntries / count);
    this.#onEvicted = onEvicted;
  }

  get(id: string): Value | undefined {
    return this.#cacheOf(id).peek(id);
  }

  set(id: string, value: Value): void {
    this.#cacheOf(id).set(flat(id), value, ONE);
  }

  #cacheOf(id: string): LRUCache<string, Value> {
    const { length } = this.#caches;
    const index = length === 1 ? 0 : hash53(id) % length;
    return (this.#caches[index] ??= this.#createCache());
  }

  #createCache(): LRUCache<string, Value> {
    return new LRUCache<string, Value>({
      maxSize: this.#maxPerCache, // unlike `max`, it allocates nothing ahead
      dispose: (value, _id, reason) => {
        if (reason === 'evict') this.#onEvicted(value);
      },
    });
  }
}

/**
 * A copy of a text in its own memory: `join` always copies. A text that was cut out of another one
 * keeps all of the other alive, so an id would hold on to a whole header or body.
 */
export const flat = (text: string): string => [text.slice(0, 1), text.slice(1)].join('');

const { imul } = Math;

/**
 * 53 bits of a text (cyrb53). Only for uses where two texts with the same hash do no harm: a number
 * is kept in less memory than a string.
 */
export function hash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = imul(high ^ code, 0x9e3779b1);
    low = imul(low ^ code, 0x5f356495);
  }
  const mixedHigh = mix(high, low);
  return (mixedHigh >>> 11) * 2 ** 32 + (mix(low, mixedHigh) >>> 0);
}

const mix = (half: number, other: number): number =>
  imul(half ^ (half >>> 16), 0x85ebca6b) ^ imul(other ^ (other >>> 13), 0xc2b2ae35);

type Calls = Pick<Store, 'admit' | 'complete' | 'release' | 'extend'>;
type AnyCall = (...args: never[]) => unknown;

const syncCalls = new WeakMap<AnyCall, AnyCall>();

/**
 * Makes a synchronous function into a store method: it returns the promise that `Store` asks for,
 * and `callSyncIfPossible` can call the function behind it without one (decision 9).
 */
export function syncMethod<Args extends unknown[], Result>(
  call: (...args: Args) => Result,
): (...args: Args) => Promise<Result> {
  const method = (...args: Args) =>
    new Promise<Result>((resolve) => {
      resolve(call(...args));
    });
  syncCalls.set(method, call);
  return method;
}

/**
 * Calls a store method, synchronously if it was made with `syncMethod`. The method is looked up on
 * each call, so a wrapper or a spy that replaces it is called instead.
 */
export function callSyncIfPossible<Name extends keyof Calls>(
  store: Store,
  name: Name,
  ...args: Parameters<Calls[Name]>
): Awaitable<Awaited<ReturnType<Calls[Name]>>> {
  const call = (syncCalls.get(store[name]) ?? store[name]) as (...args: unknown[]) => never;
  return call.apply(store, args);
}
