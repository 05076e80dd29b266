import { memoryDeadLetters, type DeadLetter, type DeadLetters } from '@call-webhooks/core';
import type { OpenedDeadLetters } from '../../src/index.ts';

/** Dead letters that keep all promises but one. */
export interface BrokenDeadLetters {
  wrong: string;
  promise: string;
  /** What else the error says, to tell an author where to look. */
  says?: string;
  breaks(healthy: DeadLetters): Partial<DeadLetters>;
}

/** Dead letters in memory, which can refuse a letter. */
export async function openDeadLetters(
  breaks: BrokenDeadLetters['breaks'] = () => ({}),
): Promise<OpenedDeadLetters> {
  let [time, refuses] = [1_800_000_000_000, false];
  const memory = memoryDeadLetters({ now: () => time });
  const check = () => {
    if (refuses) throw new Error('The disk is full.');
  };
  const healthy: DeadLetters = {
    ...memory,
    async put(letter) {
      check();
      await memory.put(letter);
    },
    ping: async () => check(),
  };
  return {
    deadLetters: { ...healthy, ...breaks(healthy) },
    advance: (ms) => void (time += ms),
    refusals: {
      'a full disk': async () => {
        refuses = true;
        return async () => void (refuses = false);
      },
    },
  };
}

const withLetter = (
  healthy: DeadLetters,
  change: (letter: DeadLetter) => DeadLetter,
): Partial<DeadLetters> => ({ put: (letter) => healthy.put(change(letter)) });

export const BROKEN_DEAD_LETTERS: readonly BrokenDeadLetters[] = [
  {
    wrong: 'keeps a body as text',
    promise: 'keeps a letter with all that is needed to run it again',
    breaks: (healthy) =>
      withLetter(healthy, (letter) => ({
        ...letter,
        rawBody: new TextEncoder().encode(new TextDecoder().decode(letter.rawBody)),
      })),
  },
  {
    wrong: 'adds a byte to a body',
    promise: 'keeps a letter with all that is needed to run it again',
    breaks: (healthy) =>
      withLetter(healthy, (letter) => ({
        ...letter,
        rawBody: Buffer.concat([letter.rawBody, Buffer.from('\n')]),
      })),
  },
  {
    wrong: 'does not tell tenants apart',
    promise: 'keeps the letters of two tenants apart, and two deliveries without a key',
    breaks: (healthy) => withLetter(healthy, ({ tenant: _tenant, ...letter }) => letter),
  },
  {
    wrong: 'replaces what a database refuses in a text',
    promise: 'keeps texts unchanged that databases refuse: NUL, lone surrogates, very long ones',
    breaks: (healthy) =>
      withLetter(
        healthy,
        (letter) =>
          ({
            ...letter,
            eventName: letter.eventName?.replaceAll(/[\0\ud800-\udfff]/g, '\ufffd'),
          }) as DeadLetter,
      ),
  },
  {
    wrong: 'lists the first page again and again',
    promise: 'lists each letter once over many pages, oldest failure first',
    breaks: (healthy) => ({ list: (query) => healthy.list({ ...query, cursor: undefined }) }),
  },
  {
    wrong: 'lists what failed last first',
    promise: 'lists each letter once over many pages, oldest failure first',
    breaks: (healthy) => ({
      async list(query) {
        const page = await healthy.list(query);
        return { ...page, letters: [...page.letters].reverse() };
      },
    }),
  },
  {
    wrong: 'takes any text for a cursor',
    promise: 'refuses a cursor that no list gave',
    breaks: (healthy) => ({
      list: (query) =>
        healthy.list(query).catch(() => healthy.list({ ...query, cursor: undefined })),
    }),
  },
  {
    wrong: 'lists the letters of all tenants',
    promise: 'filters by tenant, and counts alike',
    breaks: (healthy) => ({ list: (query) => healthy.list({ ...query, tenant: undefined }) }),
  },
  {
    wrong: 'gives a letter to two redrives',
    promise: 'gives a letter to one of 20 racing claims, and takes a repeated claim as one',
    breaks: (healthy) => ({
      claim: async (id, claim) => (await healthy.claim(id, claim)) ?? healthy.get(id),
    }),
  },
  {
    wrong: 'lets a redrive settle a letter that it has lost',
    promise: 'fences a claim that has expired, before and after another claim',
    breaks: (healthy) => ({
      settle: async (id, token) => (await healthy.settle(id, token)) || healthy.remove(id),
    }),
  },
  {
    wrong: 'loses a letter that is given back',
    promise: 'keeps a letter that is given back, with its new failure if there is one',
    breaks: (healthy) => ({ giveBack: (id, token) => healthy.settle(id, token) }),
  },
  {
    wrong: 'says that it is well while it can be read',
    promise: 'says that it is down while it would refuse a letter',
    says: '"when": "during a full disk"',
    breaks: () => ({ ping: async () => 'pong' }),
  },
  {
    wrong: 'removes expired letters that a redrive has',
    promise: 'keeps an expired letter while a redrive has claimed it',
    breaks: (healthy) => ({
      async removeExpired(turn) {
        const { letters } = await healthy.list({ until: turn.before, limit: turn.limit });
        for (const { id } of letters) await healthy.remove(id);
        return letters.length;
      },
    }),
  },
];
