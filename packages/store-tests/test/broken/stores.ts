import { memoryStore, type Store } from '@call-webhooks/core';
import type { Claim, OutcomeLog } from '@call-webhooks/core/stores';
import type { OpenedStore } from '../../src/index.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A store that keeps all promises but one. */
export interface BrokenStore {
  /** What it does wrong. */
  wrong: string;
  /** The test that says so, which is the promise. */
  promise: string;
  /** What else the error says, to tell an author where to look. */
  says?: string;
  /** Changes the opened healthy store. */
  breaks(healthy: HealthyStore): Breakage;
}

type Breakage = Partial<Store> & {
  /** How much the store says that it holds. */
  size?(): Promise<number>;
  /** What the store makes of a time of a receiver whose clock is `ahead` milliseconds ahead. */
  skew?(time: number, ahead: number): number;
};

/** A healthy store in memory, and what a broken one may need of it. */
export interface HealthyStore {
  store: Store &
    Required<Pick<Store, 'reopen' | 'loadCursor' | 'saveCursor' | 'peek' | 'ping'>> & {
      readonly log: OutcomeLog;
    };
  now(): number;
  /** How many claims it ever took. */
  claims(): number;
  /** Whether it refuses what is written now. */
  refuses(): boolean;
}

/** Opens the store in memory, with refusals, tables that have a version, and a clock of its own. */
export async function openStore(breaks: BrokenStore['breaks'] = () => ({})): Promise<OpenedStore> {
  let [time, claims] = [1_800_000_000_000, 0];
  let [refuses, isNewer] = [false, false];
  const now = () => time;
  const memory = memoryStore({ now }) as HealthyStore['store'];
  const held = new Map<string, number>();
  const checked =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (isNewer) throw new Error('The tables are those of a newer release.');
      return call(...args);
    };
  const checkedCalls = <Calls extends object>(calls: Calls) =>
    Object.fromEntries(
      Object.entries(calls).map(([name, call]: [string, unknown]) => [
        name,
        typeof call === 'function' ? checked(call.bind(calls) as () => Promise<unknown>) : call,
      ]),
    ) as unknown as Calls;
  const healthy: HealthyStore['store'] = {
    ...checkedCalls(memory),
    log: checkedCalls(memory.log),
    admit: checked(async (claim) => {
      if (refuses) throw new Error('The disk is full.');
      claims += 1;
      for (const [id, until] of held) if (until <= time) held.delete(id);
      held.set(claim.webhookId, claim.replayUntil);
      return memory.admit(claim);
    }),
    ping: checked(async () => {
      if (refuses) throw new Error('The disk is full.');
    }),
    get rememberFor() {
      return memory.rememberFor;
    },
  };
  const subject: HealthyStore = {
    store: healthy,
    now,
    claims: () => claims,
    refuses: () => refuses,
  };
  const breakage = breaks(subject);
  const { size = async () => held.size, skew = (at, ahead) => at - ahead, ...changes } = breakage;
  const store = Object.create(healthy, Object.getOwnPropertyDescriptors(changes)) as Store;
  return {
    store,
    now,
    advance: (ms) => void (time += ms),
    size,
    skewed: (ms) => ({
      ...store,
      admit: (claim) => store.admit({ ...claim, replayUntil: skew(claim.replayUntil, ms) }),
      extend: (...args) => store.extend(...args),
      complete: (...args) => store.complete(...args),
      release: (...args) => store.release(...args),
    }),
    refusals: {
      'a full disk': async () => {
        refuses = true;
        return async () => void (refuses = false);
      },
    },
    setNewer: (to) => void (isNewer = to),
  };
}

/** Who holds the lease on an event, as far as a store tells. */
function owners(store: Store) {
  const tokens = new Map<string, string>();
  const admit: Store['admit'] = async (claim) => {
    const admission = await store.admit(claim);
    if (admission.status === 'admitted' && claim.key !== undefined)
      tokens.set(claim.key, claim.token);
    return admission;
  };
  const of = (key: string) => tokens.get(key) ?? '';
  return { admit, of };
}

/** Which tokens have released a lease. */
function releases(store: Store) {
  const released = new Set<string>();
  const release: Store['release'] = (key, token) => {
    released.add(token);
    return store.release(key, token);
  };
  return { release, hasReleased: (token: string) => released.has(token) };
}

const withClaim = (store: Store, change: (claim: Claim) => Claim): Pick<Store, 'admit'> => ({
  admit: (claim) => store.admit(change(claim)),
});

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    wrong: 'completes an event for any token',
    promise:
      'fences a process whose lease has expired: it cannot complete, release or extend, before and after another claim is admitted',
    breaks({ store }) {
      const { admit, of } = owners(store);
      return { admit, complete: (key, _token, mark) => store.complete(key, of(key), mark) };
    },
  },
  {
    wrong: 'releases an event for any token',
    promise: 'fences a token that has released the lease, or has never held it',
    breaks({ store }) {
      const { admit, of } = owners(store);
      return { admit, release: (key) => store.release(key, of(key)) };
    },
  },
  {
    wrong: 'extends a lease that was released',
    promise: 'fences a token that has released the lease, or has never held it',
    breaks({ store }) {
      const { release, hasReleased } = releases(store);
      const extend: Store['extend'] = async (key, token, ms) =>
        (await store.extend(key, token, ms)) || hasReleased(token);
      return { release, extend };
    },
  },
  {
    wrong: 'completes an event whose lease was released',
    promise: 'fences a token that has released the lease, or has never held it',
    breaks({ store }) {
      const { release, hasReleased } = releases(store);
      const complete: Store['complete'] = async (key, token, mark) =>
        (await store.complete(key, token, mark)) || hasReleased(token);
      return { release, complete };
    },
  },
  {
    wrong: 'does not remember webhook ids',
    promise: 'refuses a webhook id that it has seen, with or without a key, until replayUntil',
    breaks({ store, claims }) {
      return withClaim(store, (claim) => ({ ...claim, webhookId: `new-${String(claims())}` }));
    },
  },
  {
    wrong: 'remembers webhook ids for a minute',
    promise: 'refuses a webhook id that it has seen, with or without a key, until replayUntil',
    breaks: ({ store, now }) =>
      withClaim(store, (claim) => ({ ...claim, replayUntil: now() + 60_000 })),
  },
  {
    wrong: 'remembers a webhook id once',
    promise: 'refuses a webhook id that it has seen, with or without a key, until replayUntil',
    breaks({ store, now }) {
      const first = new Map<string, number>();
      return withClaim(store, (claim) => {
        const replayUntil = first.get(claim.webhookId) ?? claim.replayUntil;
        first.set(claim.webhookId, replayUntil);
        return { ...claim, ...(replayUntil < now() && { replayUntil }) };
      });
    },
  },
  {
    wrong: 'remembers a webhook id only together with its event',
    promise: 'refuses a webhook id that it has seen, whatever the event and its group are',
    breaks: ({ store }) =>
      withClaim(store, (claim) => ({
        ...claim,
        webhookId: `${claim.webhookId}/${claim.key ?? ''}`,
      })),
  },
  {
    wrong: 'takes a repeated claim for a replay',
    promise:
      'gives the same answer to a claim that is repeated with the same token, as after a lost reply',
    breaks({ store }) {
      const tokens = new Set<string>();
      return {
        async admit(claim) {
          if (tokens.has(claim.token)) return { status: 'replayed' };
          tokens.add(claim.token);
          return store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'admits everybody who asks at the same time',
    promise: 'has one winner among 200 racing claims of one event, each sent twice',
    breaks({ store }) {
      const asking = new Set<string>();
      return {
        async admit(claim) {
          const { key = '' } = claim;
          if (asking.has(key)) return { status: 'admitted', attempt: 1 };
          asking.add(key);
          setImmediate(() => asking.delete(key));
          return store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'takes leases that never end',
    promise:
      'counts attempts across releases and expired leases; a refused claim uses up no attempt',
    breaks: ({ store }) => withClaim(store, (claim) => ({ ...claim, leaseMs: 365 * DAY })),
  },
  {
    wrong: 'extends no lease, and says that it did',
    promise: 'extends a live lease from now on, and shortens it as well',
    breaks: () => ({ extend: async () => true }),
  },
  {
    wrong: 'adds to a lease instead of moving its end',
    promise: 'extends a live lease from now on, and shortens it as well',
    breaks: ({ store }) => ({ extend: (key, token, ms) => store.extend(key, token, ms + 60_000) }),
  },
  {
    wrong: 'forgets the attempts of an event that was released',
    promise:
      'counts attempts across releases and expired leases; a refused claim uses up no attempt',
    breaks: ({ store }) => ({
      async admit(claim) {
        const admission = await store.admit(claim);
        return admission.status === 'admitted' ? { ...admission, attempt: 1 } : admission;
      },
    }),
  },
  {
    wrong: 'ignores groups',
    promise: 'admits one event of a group at a time; a refused claim uses up no attempt',
    breaks: ({ store }) => withClaim(store, ({ group: _group, ...claim }) => claim),
  },
  {
    wrong: 'does not tell an event in a group from one of the same name',
    promise: 'keeps groups apart, from each other, from events, and from claims without a group',
    breaks: ({ store }) =>
      withClaim(store, (claim) => ({
        ...claim,
        ...(claim.group !== undefined && { group: claim.group.slice(0, 20).toLowerCase() }),
      })),
  },
  {
    wrong: 'never forgets an event that is done',
    promise: 'forgets an event that is handled when rememberFor is over, and not before',
    breaks({ store }) {
      const done = new Set<string>();
      return {
        admit: async (claim) =>
          done.has(claim.key ?? '') ? { status: 'duplicate' } : store.admit(claim),
        async complete(key, token, mark) {
          const completed = await store.complete(key, token, mark);
          if (completed) done.add(key);
          return completed;
        },
      };
    },
  },
  {
    wrong: 'never deletes anything',
    promise: 'deletes what it has forgotten, so that it does not grow without end',
    says: 'Each round left 250, and all of it had expired',
    breaks: ({ claims }) => ({ size: async () => claims() }),
  },
  {
    wrong: 'remembers events for an hour',
    promise: 'forgets an event that is dead-lettered when rememberFor is over, and not before',
    breaks: ({ now }) => memoryStore({ now, rememberFor: HOUR }),
  },
  {
    wrong: 'stores keys as MySQL compares texts by default: without case, and up to 255 characters',
    promise: 'tells any two keys apart, including keys with lone surrogates and NUL',
    breaks: ({ store }) =>
      withClaim(store, ({ key, ...claim }) =>
        key === undefined ? claim : { ...claim, key: key.slice(0, 255).toLowerCase() },
      ),
  },
  {
    wrong: 'takes times of a receiver for its own',
    promise:
      'remembers webhook ids and events as long for a receiver whose clock is -60 minutes off',
    breaks: () => ({ skew: (time) => time }),
  },
  {
    wrong: 'is healthy while it can read',
    promise: 'is not ready while it still answers reads but would refuse a claim',
    says: '"when": "during a full disk"',
    breaks: () => ({ ping: async () => 'pong' }),
  },
  {
    wrong: 'refuses claims for a while after an outage, as a circuit breaker does',
    promise: 'is not ready while it still answers reads but would refuse a claim',
    says: '"claim": "rejects: Error: The circuit is open."',
    breaks({ store, refuses }) {
      let isOpen = false;
      return {
        async admit(claim) {
          isOpen ||= refuses();
          if (isOpen) throw new Error('The circuit is open.');
          return store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'does not look at the version of its tables',
    promise: 'refuses tables that a newer release has migrated since, and changes nothing in them',
    breaks: ({ now }) => memoryStore({ now }),
  },
  {
    wrong: 'reopens any event',
    promise: 'reopens nothing but dead-lettered events',
    breaks: ({ store }) => ({ reopen: async (key) => (await store.reopen(key)) || true }),
  },
  {
    wrong: 'calls an event running whose process died',
    promise:
      'says that an event has failed once its lease has expired, and is running once it is admitted again',
    breaks: ({ store }) => ({
      peek: async (keys) =>
        (await store.peek(keys)).map((state) => (state === 'failed' ? 'running' : state)),
    }),
  },
  {
    wrong: 'keeps one cursor for all names',
    promise: 'keeps the cursor that was saved last under a name, on every connection',
    breaks: ({ store }) => ({
      loadCursor: () => store.loadCursor('cursor'),
      saveCursor: (_name, cursor) => store.saveCursor('cursor', cursor),
    }),
  },
];
