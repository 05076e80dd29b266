import type { DeadLetters } from '@call-webhooks/core';
import { deadLetterId, type DeadLetterQuery } from '@call-webhooks/core/stores';
import type { BrokenDeadLetters } from './dead-letters.ts';

/** Removes what has expired one by one, but for some. */
const removing =
  (
    healthy: DeadLetters,
    isKept: (id: string) => boolean,
  ): NonNullable<DeadLetters['removeExpired']> =>
  async ({ before, limit }) => {
    const { letters } = await healthy.list({ until: before, limit });
    const removed = letters.filter(({ id }) => !isKept(id));
    for (const { id } of removed) await healthy.remove(id);
    return removed.length;
  };

/** Never removes a letter that a redrive has claimed once. */
function keepingClaimed(healthy: DeadLetters): Partial<DeadLetters> {
  const claimed = new Set<string>();
  return {
    claim: (id, claim) => healthy.claim((claimed.add(id), id), claim),
    removeExpired: removing(healthy, (id) => claimed.has(id)),
  };
}

const FILTERED = 'filters by event name, reason and time, and counts alike';

/** Dead letters that are wrong about what they keep, list and remove. */
export const BROKEN_LETTERS: readonly BrokenDeadLetters[] = [
  {
    wrong: 'extends no claim, and says that it did',
    promise: 'extends a claim from now on',
    breaks: () => ({ extend: async () => true }),
  },
  {
    wrong: 'lets a redrive settle a letter whose event has failed again',
    promise: 'ends the claim on a letter whose event has failed again',
    breaks: (healthy) => ({
      settle: async (id, token) => (await healthy.settle(id, token)) || healthy.remove(id),
    }),
  },
  {
    wrong: 'keeps a letter that was settled',
    promise: 'removes a letter that is settled, and claims nothing that is not there',
    breaks: (healthy) => ({ settle: (id, token) => healthy.giveBack(id, token) }),
  },
  {
    wrong: 'removes all that has expired at once',
    promise: 'removes expired letters in batches, oldest failure first, and keeps the others',
    breaks: (healthy) => ({
      removeExpired: (turn) => healthy.removeExpired!({ ...turn, limit: 1_000 }),
    }),
  },
  {
    wrong: 'removes a letter that has not expired yet',
    promise: 'removes expired letters in batches, oldest failure first, and keeps the others',
    breaks: (healthy) => ({
      removeExpired: ({ before, ...turn }) =>
        healthy.removeExpired!({ ...turn, before: new Date(before.getTime() + 1) }),
    }),
  },
  ...[
    'removes an expired letter whose redrive has died, once its claim has run out',
    'removes an expired letter whose event has failed again while a redrive had claimed it',
  ].map((promise) => ({
    wrong: 'keeps a letter for ever that a redrive has claimed',
    promise,
    breaks: keepingClaimed,
  })),
  {
    wrong: 'lets all processes remove letters at once',
    promise: 'lets one process at a time remove expired letters, until its turn has expired',
    breaks: (healthy) => ({
      removeExpired: (turn) => healthy.removeExpired!({ ...turn, token: 'all of them' }),
    }),
  },
  {
    wrong: 'counts letters twice that it removes',
    promise: 'removes expired letters once for processes that begin at the same time',
    breaks: (healthy) => ({
      removeExpired: async (turn) => 2 * ((await healthy.removeExpired!(turn)) ?? 0),
    }),
  },
  {
    wrong: 'invents what it does not know',
    promise: 'keeps a letter of which little is known',
    breaks: (healthy) => ({
      put: (letter) => healthy.put({ ...letter, callId: letter.callId ?? 'unknown' }),
    }),
  },
  {
    wrong: 'forgets the failures of a letter when its event fails again',
    promise: 'has one letter for each event, whose history goes on',
    breaks: (healthy) => ({
      async put(letter) {
        await healthy.remove(await deadLetterId(letter));
        await healthy.put(letter);
      },
    }),
  },
  {
    wrong: 'keeps the newest failures alone',
    promise: 'keeps the first failure of a letter and the last 49',
    breaks: (healthy) => ({
      async get(id) {
        const letter = await healthy.get(id);
        return letter && { ...letter, history: letter.history.slice(-49) };
      },
    }),
  },
  {
    wrong: 'says each time that it has removed a letter',
    promise: 'removes a letter for good',
    breaks: (healthy) => ({ remove: async (id) => (await healthy.remove(id)) || true }),
  },
  {
    wrong: 'lists letters with their bodies',
    promise: 'lists letters without their bodies, which can be asked for',
    breaks: (healthy) => ({
      async list(query) {
        const page = await healthy.list(query);
        const whole = page.letters.map(async ({ id }) => (await healthy.get(id))!);
        return { ...page, letters: await Promise.all(whole) };
      },
    }),
  },
  ...(['reason', 'since', 'until'] as const).flatMap((filter): BrokenDeadLetters[] => {
    const without = ({ [filter]: _ignored, ...query }: DeadLetterQuery = {}) => query;
    return [
      {
        wrong: `lists letters whatever "${filter}" says`,
        promise: FILTERED,
        breaks: (healthy) => ({ list: (query) => healthy.list(without(query)) }),
      },
      {
        wrong: `counts letters whatever "${filter}" says`,
        promise: FILTERED,
        breaks: (healthy) => ({ count: (query) => healthy.count(without(query)) }),
      },
    ];
  }),
  {
    wrong: 'counts the letters of all tenants',
    promise: 'filters by tenant, and counts alike',
    breaks: (healthy) => ({ count: (query) => healthy.count({ ...query, tenant: undefined }) }),
  },
  {
    wrong: 'lists a hundred letters where none is asked for',
    promise: 'refuses a query that means nothing',
    breaks: (healthy) => ({
      list: (query) => healthy.list({ ...query, ...(query?.limit === 0 && { limit: 100 }) }),
    }),
  },
  {
    wrong: 'knows no time that its database does not know',
    promise: 'accepts any time as a limit',
    breaks: (healthy) => ({
      async count(query) {
        if ((query?.since?.getTime() ?? 0) < 0) throw new RangeError('out of range');
        return healthy.count(query);
      },
    }),
  },
];
