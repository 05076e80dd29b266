import { type OutcomeLog, type SeenProcess, SERIES_NAMES } from '@call-webhooks/core/stores';
import type { BrokenStore, HealthyStore } from './stores.ts';

const HOUR_MS = 3_600_000;

const withLog =
  (changes: (log: OutcomeLog, healthy: HealthyStore) => Partial<OutcomeLog>) =>
  (healthy: HealthyStore) => ({
    log: { ...healthy.store.log, ...changes(healthy.store.log, healthy) },
  });

/** Gives no rows that name an earlier time than so long ago. */
const forgettingByTime = (ms: number) =>
  withLog((log, { now }) => ({
    async read(query) {
      const page = await log.read(query);
      return { ...page, rows: page.rows.filter(({ at }) => at >= now() - ms) };
    },
  }));

/** Never forgets a counter that was written. */
const keepingCounts = withLog((log) => {
  const known = new Map<string, Map<number, Record<string, number>>>();
  return {
    append(batch) {
      for (const [series, periods] of Object.entries(batch.counts))
        for (const [period, counters] of Object.entries(periods)) {
          const kept = known.get(series) ?? new Map<number, Record<string, number>>();
          known.set(series, kept.set(Number(period), counters));
        }
      return log.append(batch);
    },
    counts: async (series, ...range) =>
      new Map([...(known.get(series) ?? []), ...(await log.counts(series, ...range))]),
  };
});

/** Stores whose outcome log keeps too much, or too little. */
export const BROKEN_KEPT_LOGS: readonly BrokenStore[] = [
  {
    wrong: 'replaces what a database refuses in the name of a mark',
    promise: 'accepts any names of counters and marks',
    breaks: withLog((log) => ({
      async marks() {
        const { marks, ...found } = await log.marks();
        const named = Object.entries(marks).map(([name, at]) => [
          name.replaceAll(/[\0\ud800-\udfff]/g, '?'),
          at,
        ]);
        return { ...found, marks: Object.fromEntries(named) as typeof marks };
      },
    })),
  },
  ...SERIES_NAMES.map((series): BrokenStore => ({
    wrong: 'never forgets a counter',
    promise: `forgets counters of the series ${series} after their time`,
    breaks: keepingCounts,
  })),
  {
    wrong: 'never forgets a mark',
    promise: 'forgets a mark after 30 days, and keeps the newest 2,000',
    breaks: withLog((log) => {
      let known = {};
      return {
        async marks() {
          const found = await log.marks();
          known = { ...known, ...found.marks };
          return { ...found, marks: known };
        },
      };
    }),
  },
  {
    wrong: 'never forgets a process',
    promise: 'forgets a process 50 hours after its last batch',
    breaks: withLog((log) => {
      const known = new Map<string, SeenProcess>();
      return {
        async processes() {
          for (const one of await log.processes()) known.set(one.id, one);
          return [...known.values()];
        },
      };
    }),
  },
  {
    wrong: 'keeps fewer processes than it should',
    promise: 'keeps the 1,000 processes that wrote last',
    breaks: withLog((log) => ({ processes: async () => (await log.processes()).slice(0, 990) })),
  },
  {
    wrong: 'forgets a failure after half a day',
    promise: 'keeps a failure of yesterday through thousands of deliveries',
    breaks: forgettingByTime(12 * HOUR_MS),
  },
  {
    wrong: 'keeps half of the rows that it should',
    promise: 'drops the oldest rows of a kind beyond its limit, and none of the other kind',
    breaks: withLog((log) => ({
      async read(query) {
        const page = await log.read(query);
        return { ...page, rows: page.rows.filter((_row, at) => at % 2 === 0) };
      },
    })),
  },
  {
    wrong: 'says of an erasure that it was of 100 rows at most',
    promise: 'erases rows through the whole log, which can be paged through as before',
    breaks: withLog((log) => ({ erase: async (which) => Math.min(100, await log.erase(which)) })),
  },
  {
    wrong: 'forgets rows by the times that they name',
    promise: 'forgets rows 50 hours after the store took them, whatever times they name',
    breaks: forgettingByTime(40 * HOUR_MS),
  },
];
