import type { OutcomeBatch, OutcomeLog } from '@call-webhooks/core/stores';
import { unique } from '../../src/unique.ts';
import type { BrokenStore, HealthyStore } from './stores.ts';

/** Changes some calls of the log. */
const withLog =
  (changes: (log: OutcomeLog, healthy: HealthyStore) => Partial<OutcomeLog>) =>
  (healthy: HealthyStore) => ({
    log: { ...healthy.store.log, ...changes(healthy.store.log, healthy) },
  });

/** Appends a batch that comes once more as one of its own, with a part of it. */
const twice = (part: (batch: OutcomeBatch) => Partial<OutcomeBatch>) =>
  withLog((log) => {
    const seen = new Set<string>();
    return {
      append(batch) {
        if (!seen.has(batch.id)) {
          seen.add(batch.id);
          return log.append(batch);
        }
        return log.append({ ...batch, id: unique('again'), ...part(batch) });
      },
    };
  });

const withBatch = (change: (batch: OutcomeBatch, healthy: HealthyStore) => OutcomeBatch) =>
  withLog((log, healthy) => ({ append: (batch) => log.append(change(batch, healthy)) }));

/** Takes the clock of a process for the store's own. */
const byClockOfProcess = withBatch(({ process, ...batch }, { now }) => ({
  ...batch,
  process: { ...process, at: now() },
}));

/** Stores whose outcome log breaks one promise each. */
export const BROKEN_LOGS: readonly BrokenStore[] = [
  {
    wrong: 'hides that it has no log',
    promise: 'has each optional member of Store that `without` does not name, and no other',
    breaks: () => ({ log: undefined }),
  },
  {
    wrong: 'never deletes a batch of its log',
    promise: 'deletes what its outcome log has forgotten',
    says: 'each with an id, a process, a mark and counters of its own',
    breaks({ store }) {
      let batches = 0;
      const append: OutcomeLog['append'] = (batch) => {
        batches += 1;
        return store.log.append(batch);
      };
      return { log: { ...store.log, append }, size: async () => batches };
    },
  },
  {
    wrong: 'gives the first page of its log again',
    promise: 'gives the newest rows first, page by page, on every connection',
    breaks: withLog((log) => ({ read: (query) => log.read({ ...query, before: undefined }) })),
  },
  {
    wrong: 'gives the oldest rows of a page first',
    promise: 'gives the newest rows first, page by page, on every connection',
    breaks: withLog((log) => ({
      async read(query) {
        const page = await log.read(query);
        return { ...page, rows: [...page.rows].reverse() };
      },
    })),
  },
  {
    wrong: 'gives all rows where only failures are asked for',
    promise: 'pages over failures and other rows in one order, or over the failures alone',
    breaks: withLog((log) => ({ read: (query) => log.read({ ...query, only: undefined }) })),
  },
  ...(['since', 'until'] as const).map((limit): BrokenStore => ({
    wrong: `gives rows whatever "${limit}" says`,
    promise: 'gives the rows of a stretch of time, also those that were written much later',
    breaks: withLog((log) => ({ read: (query) => log.read({ ...query, [limit]: undefined }) })),
  })),
  {
    wrong: 'begins anew after a cursor that it does not know',
    promise: 'refuses a cursor that no page of the log gave',
    breaks: withLog((log) => ({
      read: (query) => log.read(query).catch(() => log.read({ ...query, before: undefined })),
    })),
  },
  {
    wrong: 'keeps the rows of a batch as often as it comes',
    promise:
      'keeps the rows of a batch once, however often and on whatever connection it is appended',
    breaks: twice(() => ({ failures: [], counts: {}, marks: {} })),
  },
  {
    wrong: 'keeps the failures of a batch as often as it comes',
    promise:
      'keeps the rows of a batch once, however often and on whatever connection it is appended',
    breaks: twice(() => ({ rows: [], counts: {}, marks: {} })),
  },
  {
    wrong: 'counts a batch as often as it comes',
    promise: 'counts a batch once, however often and on whatever connection it is appended',
    breaks: twice(() => ({ rows: [], failures: [] })),
  },
  {
    wrong: 'replaces what a database refuses in a row',
    promise: 'accepts any text in a row',
    breaks: withBatch((batch) => ({
      ...batch,
      failures: batch.failures.map((row) => ({
        ...row,
        error: row.error?.replaceAll(/[\0\ud800-\udfff]/g, '\ufffd'),
      })),
    })),
  },
  ...[4, -4].flatMap((minutes): BrokenStore[] => [
    {
      wrong: 'keeps rows with the times of their process',
      promise: `has rows by its own clock, if that of a process is off by ${String(minutes)} minutes`,
      breaks: byClockOfProcess,
    },
    {
      wrong: 'keeps marks with the times of their process',
      promise: `has marks by its own clock, if that of a process is off by ${String(minutes)} minutes`,
      breaks: byClockOfProcess,
    },
  ]),
  {
    wrong: 'erases nothing',
    promise: 'erases the rows of calls, keys and tenants, and no others',
    breaks: withLog(() => ({ erase: async () => 0 })),
  },
  {
    wrong: 'erases the rows of a tenant that came later, too',
    promise: 'erases the rows of calls, keys and tenants, and no others',
    breaks: withLog((log) => ({ erase: (which) => log.erase({ ...which, before: undefined }) })),
  },
  {
    wrong: 'drops counts of an earlier minute',
    promise:
      'adds counts exactly: 12 writers at once, which name the same counters in different orders',
    breaks: withBatch((batch, { now }) => {
      const minute = String(Math.floor(now() / 60_000));
      const minutes = Object.entries(batch.counts.minutes ?? {}).filter(([at]) => at === minute);
      return { ...batch, counts: { ...batch.counts, minutes: Object.fromEntries(minutes) } };
    }),
  },
  {
    wrong: 'gives the counters of all names',
    promise: 'keeps each series apart, and gives the counters with a prefix',
    breaks: withLog((log) => ({
      counts: (series, since, until) => log.counts(series, since, until),
    })),
  },
  {
    wrong: 'keeps one series alone',
    promise: 'keeps each series apart, and gives the counters with a prefix',
    breaks: withBatch((batch) => ({ ...batch, counts: { minutes: batch.counts.minutes ?? {} } })),
  },
  {
    wrong: 'keeps the mark that was written last',
    promise: 'keeps the newest time of a mark, whatever comes in between',
    breaks: withLog((log) => {
      const last: Record<string, number> = {};
      return {
        append(batch) {
          Object.assign(last, batch.marks);
          return log.append(batch);
        },
        async marks() {
          const found = await log.marks();
          return { ...found, marks: { ...found.marks, ...last } };
        },
      };
    }),
  },
  {
    wrong: 'forgets who writes',
    promise: 'knows the processes that write, what they said last and when',
    breaks: withLog(() => ({ processes: async () => [] })),
  },
];
