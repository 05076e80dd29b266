import { callHook } from '../reporting/logger.ts';
import { hash53 } from './hash53.ts';
import { IdCache } from './id-cache.ts';
import { MemoryLeases, type MemoryLease } from './memory-leases.ts';
import { checkMemoryStoreOptions, type MemoryStoreOptions } from './memory-store-options.ts';
import type { Admission, Claim, DoneMark, StoreWithoutCompleteIn } from './store.ts';
import { syncMethod } from './sync-store.ts';

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
