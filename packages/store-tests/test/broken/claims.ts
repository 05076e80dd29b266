import { memoryStore, type Store } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import type { BrokenStore, HealthyStore } from './stores.ts';

const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;

const withClaim =
  (change: (claim: Claim, healthy: HealthyStore) => Claim): BrokenStore['breaks'] =>
  (healthy) => ({ admit: (claim) => healthy.store.admit(change(claim, healthy)) });

/** Gives everybody who asks in one turn of the event loop for the same thing what the first one gets. */
function inOneTurn<Asked, Result>(
  call: (asked: Asked) => Promise<Result>,
  of: (asked: Asked) => string,
) {
  const asking = new Map<string, Promise<Result>>();
  return (asked: Asked): Promise<Result> => {
    const name = of(asked);
    const answer = asking.get(name) ?? call(asked);
    asking.set(name, answer);
    setImmediate(() => asking.delete(name));
    return answer;
  };
}

/** Ends the lease of an event for any token. */
function ofAnybody({ store }: HealthyStore): Partial<Store> {
  const tokens = new Map<string, string>();
  return {
    async admit(claim) {
      const admission = await store.admit(claim);
      if (admission.status === 'admitted') tokens.set(claim.key ?? '', claim.token);
      return admission;
    },
    complete: (key, _token, mark) => store.complete(key, tokens.get(key) ?? '', mark),
  };
}

/** Stores that are wrong about claims: of one turn, that are repeated, or at the end of their time. */
export const BROKEN_CLAIMS: readonly BrokenStore[] = [
  {
    wrong: 'says of each completion of a turn that the lease was held',
    promise: 'answers many claims and completions of one turn, each on its own',
    breaks: ({ store }) => ({
      complete: async (...args) => (await store.complete(...args)) || true,
    }),
  },
  {
    wrong: 'ignores the group of a claim among others',
    promise: 'gives every possible answer to the claims of one turn',
    breaks: withClaim(({ group: _group, ...claim }) => claim),
  },
  {
    wrong: 'completes an event for any token',
    promise: 'ends and extends leases of one turn, each by its own token',
    breaks: ofAnybody,
  },
  {
    wrong: 'says that it extends what has expired',
    promise: 'ends and extends no lease of one turn that has expired, and counts the attempts on',
    breaks: ({ store }) => ({ extend: async (...args) => (await store.extend(...args)) || true }),
  },
  {
    wrong: 'counts a repeated claim as a further attempt',
    promise:
      'gives the claims of one turn that are repeated the same answers, and no further attempt',
    breaks({ store }) {
      const repeats = new Map<string, number>();
      return {
        async admit(claim) {
          const admission = await store.admit(claim);
          const before = repeats.get(claim.token) ?? 0;
          repeats.set(claim.token, before + 1);
          return admission.status === 'admitted'
            ? { ...admission, attempt: admission.attempt + before }
            : admission;
        },
      };
    },
  },
  {
    wrong: 'remembers the webhook ids of a turn for three minutes longer',
    promise: 'forgets the webhook ids and events of one turn after their time, and not before',
    breaks: withClaim((claim) => ({ ...claim, replayUntil: claim.replayUntil + 180_000 })),
  },
  {
    wrong: 'refuses keys that are too long for a column',
    promise: 'keeps a turn together with texts that no database stores unchanged',
    breaks: withClaim((claim) => {
      if ((claim.key ?? '').length > 255) throw new Error('too long');
      return claim;
    }),
  },
  {
    wrong: 'fails with all claims of a turn where one of them fails',
    promise: 'lets one call of a turn fail, and no other',
    breaks({ store }) {
      let isBad = false;
      return {
        async admit(claim) {
          isBad ||= !Number.isFinite(claim.leaseMs);
          await new Promise(setImmediate);
          if (isBad) throw new Error('The statement was rolled back.');
          return store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'keeps cursors among its events',
    promise: 'keeps cursors apart from events of the same name',
    breaks({ store }) {
      const names = new Set<string>();
      return {
        saveCursor: (name, cursor) => store.saveCursor(name, (names.add(name), cursor)),
        admit: async (claim) =>
          names.has(claim.key ?? '') ? { status: 'duplicate' } : store.admit(claim),
      };
    },
  },
  {
    wrong: 'lets anybody mark an event as dead-lettered',
    promise:
      'fences a token that has lost its lease: it cannot mark an event as dead-lettered, or change one that is',
    breaks: ofAnybody,
  },
  {
    wrong: 'tells everybody who asks at the same time that they have reopened an event',
    promise: 'reopens an event for one of 20 racing callers, and one of 20 claims gets it',
    breaks: ({ store }) => ({ reopen: inOneTurn((key: string) => store.reopen(key), String) }),
  },
  {
    wrong: 'says that it remembers for an hour',
    promise: 'says how long it remembers, by now',
    breaks: () => ({ rememberFor: 3_600_000 }),
  },
  {
    wrong: 'completes nothing, and says that it did',
    promise: 'admits an event once at a time, and knows it as done afterwards',
    breaks: () => ({ complete: async () => true }),
  },
  {
    wrong: 'keeps a group for an event whose process has died',
    promise: 'frees the group of an event that is forgotten',
    breaks({ store }) {
      const holders = new Map<string, string | undefined>();
      return {
        async admit(claim) {
          const { group = '', key } = claim;
          if (holders.has(group) && holders.get(group) !== key) return { status: 'group-busy' };
          holders.set(group, key);
          return store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'extends a lease long after it has expired',
    promise: 'refuses to end or extend a lease that has expired',
    breaks: ({ store }) => ({ extend: async (...args) => (await store.extend(...args)) || true }),
  },
  {
    wrong: 'forgets a cursor after a day',
    promise: 'keeps a cursor until another one is saved',
    breaks({ store, now }) {
      let savedAt = 0;
      return {
        saveCursor: (name, cursor) => store.saveCursor(name, ((savedAt = now()), cursor)),
        loadCursor: async (name) => (now() < savedAt + DAY_MS ? store.loadCursor(name) : undefined),
      };
    },
  },
  {
    wrong: 'fails for a key that its database can not store',
    promise: 'accepts any string as a key',
    breaks: ({ store }) => ({
      async forget(keys) {
        if (keys.some((key) => key.includes('\0'))) throw new Error('invalid byte');
        return store.forget!(keys);
      },
    }),
  },
  {
    wrong: 'does not remember the webhook id of a claim whose group is busy',
    promise: 'gives a refused claim no lease, but remembers its webhook id with this token',
    breaks({ store }) {
      let asked = 0;
      return {
        async admit(claim) {
          const webhookId = `asked ${String(asked++)}`;
          const admission = await store.admit({ ...claim, webhookId });
          return admission.status === 'admitted' ? store.admit(claim) : admission;
        },
      };
    },
  },
  {
    wrong: 'never forgets a webhook id that comes again with a group',
    promise: 'answers for a busy group whatever was known of the webhook id before',
    breaks({ store }) {
      const tokens = new Map<string, string>();
      return {
        async admit(claim) {
          const { webhookId, token, group } = claim;
          const known = tokens.get(webhookId) ?? token;
          tokens.set(webhookId, known);
          return group !== undefined && known !== token
            ? { status: 'replayed' }
            : store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'admits all events of a group that are claimed at the same time',
    promise: 'has one winner among 200 racing claims of 50 events of one group, again and again',
    breaks: ({ store }) => ({
      admit: inOneTurn(
        (claim: Claim) => store.admit(claim),
        ({ group = '' }) => group,
      ),
    }),
  },
  {
    wrong: 'says that an event has failed that was reopened',
    promise: 'knows nothing of an event that was reopened',
    breaks({ store }) {
      const reopened = new Set<string>();
      return {
        reopen: (key) => store.reopen((reopened.add(key), key)),
        peek: async (keys) =>
          (await store.peek(keys)).map((state, at) => (reopened.has(keys[at]!) ? 'failed' : state)),
      };
    },
  },
  {
    wrong: 'takes a group for an event of its name',
    promise: 'tells events apart from cursors, webhook ids and groups of the same name',
    breaks({ store }) {
      const groups = new Set<string | undefined>();
      return {
        admit: (claim) => store.admit((groups.add(claim.group), claim)),
        peek: async (keys) =>
          (await store.peek(keys)).map((state, at) => (groups.has(keys[at]) ? 'running' : state)),
      };
    },
  },
  {
    wrong: 'fails where a webhook id need not be remembered',
    promise:
      'admits a claim whose webhook id need not be remembered any more, as after a long wait',
    breaks: withClaim((claim, { now }) => {
      if (claim.replayUntil <= now()) throw new Error('EX must be positive');
      return claim;
    }),
  },
  {
    wrong: 'admits a token again that was admitted once',
    promise: 'does not let a late repeat take the lease of a new owner',
    breaks({ store }) {
      const admitted = new Set<string>();
      return {
        async admit(claim) {
          if (admitted.has(claim.token)) return { status: 'admitted', attempt: 1 };
          const admission = await store.admit(claim);
          if (admission.status === 'admitted') admitted.add(claim.token);
          return admission;
        },
      };
    },
  },
  {
    wrong: 'admits all deliveries of one webhook id that come at the same time',
    promise: 'admits one of 50 racing deliveries of one webhook id',
    breaks: ({ store }) => ({
      admit: inOneTurn(
        (claim: Claim) => store.admit(claim),
        ({ webhookId }) => webhookId,
      ),
    }),
  },
  {
    wrong: 'does not answer',
    promise: 'says that it answers',
    breaks: () => ({ ping: () => Promise.reject(new Error('down')) }),
  },
  ...(['handled', 'failed', 'running'] as const).map((state): BrokenStore => ({
    wrong: 'remembers events for ten minutes',
    promise: `forgets an event that is ${state} when rememberFor is over, and not before`,
    // One that runs is kept for as long as it is leased, and then as long as others.
    breaks: ({ now }) => ({
      ...memoryStore({ now, rememberFor: state === 'running' ? 3 * DAY_MS : 600_000 }),
      rememberFor: DAY_MS + LEASE_MS,
    }),
  })),
];
