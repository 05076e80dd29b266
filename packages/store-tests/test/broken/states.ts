import type { BrokenStore } from './stores.ts';

const REMEMBER_MS = 600_000;
const UNTIL_REPLAY =
  'refuses a webhook id that it has seen, with or without a key, until replayUntil';

/** Stores that are wrong about the state of an event, a group or a webhook id. */
export const BROKEN_STATES: readonly BrokenStore[] = [
  {
    wrong: 'remembers a webhook id for three minutes longer',
    promise: UNTIL_REPLAY,
    breaks: ({ store }) => ({
      admit: (claim) => store.admit({ ...claim, replayUntil: claim.replayUntil + 180_000 }),
    }),
  },
  {
    wrong: 'remembers a webhook id longer with each replay',
    promise: UNTIL_REPLAY,
    breaks({ store, now }) {
      const seen = new Map<string, { token: string; until: number }>();
      return {
        async admit(claim) {
          const { webhookId, token } = claim;
          const known = seen.get(webhookId);
          const isReplay = known && known.token !== token && known.until > now();
          seen.set(webhookId, {
            token: isReplay ? known.token : token,
            until: now() + REMEMBER_MS,
          });
          return isReplay ? { status: 'replayed' } : store.admit(claim);
        },
      };
    },
  },
  {
    wrong: 'remembers the webhook ids of admitted claims alone',
    promise: 'remembers the webhook ids of claims that it refused as well',
    breaks({ store, now }) {
      let claims = 0;
      return {
        async admit(claim) {
          const state = claim.key === undefined ? undefined : (await store.peek([claim.key]))[0];
          const isRefused = state === 'running' || state === 'handled';
          const webhookId = `${claim.webhookId} ${String(claims++)}`;
          return store.admit(isRefused ? { ...claim, webhookId, replayUntil: now() + 1 } : claim);
        },
      };
    },
  },
  {
    wrong: 'takes a dead-lettered event for a handled one',
    promise: 'tells a dead-lettered event from one that was handled',
    breaks: ({ store }) => ({ complete: (key, token) => store.complete(key, token) }),
  },
  {
    wrong: 'counts on after an event was reopened',
    promise: 'admits a dead-lettered event that was reopened, as its first attempt',
    breaks({ store }) {
      const reopened = new Set<string>();
      return {
        async reopen(key) {
          const isReopened = await store.reopen(key);
          if (isReopened) reopened.add(key);
          return isReopened;
        },
        async admit(claim) {
          const admission = await store.admit(claim);
          const goesOn = admission.status === 'admitted' && reopened.delete(claim.key ?? '');
          return goesOn ? { status: 'admitted', attempt: 4 } : admission;
        },
      };
    },
  },
  {
    wrong: 'forgets a running event',
    promise: 'leaves a running event alone, and forgets it once its lease has expired',
    breaks: ({ store }) => ({
      forget: async (keys) => Math.max(keys.length, await store.forget!(keys)),
    }),
  },
  {
    wrong: 'forgets nothing',
    promise: 'forgets events that are done, failed or dead-lettered, and no other',
    breaks: () => ({ forget: async (keys) => keys.length }),
  },
  {
    wrong: 'forgets the webhook ids of all events with one of them',
    promise: 'remembers the webhook id of an event that is forgotten',
    breaks({ store }) {
      let generation = 0;
      return {
        forget: async (keys) => {
          generation += 1;
          return store.forget!(keys);
        },
        admit: (claim) =>
          store.admit({ ...claim, webhookId: `${String(generation)} ${claim.webhookId}` }),
      };
    },
  },
  {
    wrong: 'gives the states of events in the order in which it finds them',
    promise: 'tells the states of events apart, in the order of the keys, on every connection',
    breaks: ({ store }) => ({ peek: async (keys) => [...(await store.peek(keys))].sort() }),
  },
  {
    wrong: 'takes a lease to see whether an event runs',
    promise: 'changes nothing when it peeks',
    breaks: ({ store, now }) => ({
      async peek(keys) {
        const states = await store.peek(keys);
        const more = { replayUntil: now() + 1, leaseMs: 60_000, token: 'peek' };
        for (const key of keys) await store.admit({ ...more, webhookId: `peek ${key}`, key });
        return states;
      },
    }),
  },
  {
    wrong: 'peeks at 100 events at most',
    promise: 'peeks at no keys, at 500 keys, and at keys that no database stores unchanged',
    breaks: ({ store }) => ({ peek: (keys) => store.peek(keys.slice(0, 100)) }),
  },
  {
    wrong: 'frees a group before its event has ended',
    promise: 'frees a group when its lease expires, and keeps it while the lease is extended',
    breaks({ store, now }) {
      const began = new Map<string, number>();
      return {
        async admit(claim) {
          const { group = '' } = claim;
          const isOver = (began.get(group) ?? Infinity) + 60_000 <= now();
          if (!began.has(group)) began.set(group, now());
          return store.admit(isOver ? { ...claim, group: undefined } : claim);
        },
      };
    },
  },
  {
    wrong: 'says of an event that is done in a busy group that the group is busy',
    promise: 'answers for an event first, and then for its group',
    breaks({ store }) {
      const last = new Map<string, string>();
      return {
        async admit(claim) {
          const { group, key } = claim;
          const before = group === undefined ? undefined : last.get(group);
          if (before !== undefined && before !== key)
            if ((await store.peek([before]))[0] === 'running') return { status: 'group-busy' };
          const admission = await store.admit(claim);
          if (group !== undefined && key !== undefined && admission.status === 'admitted')
            last.set(group, key);
          return admission;
        },
      };
    },
  },
];
