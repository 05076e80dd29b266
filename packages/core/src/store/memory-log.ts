import {
  batchBefore,
  clockAhead,
  type CounterSeries,
  keptPeriods,
  keptRows,
  type KeptRows,
  LOG_LIMITS,
  type OutcomeBatch,
  type OutcomeLog,
  rowsOfBatch,
  type SeenProcess,
  SERIES_NAMES,
} from './outcome-log.ts';
import { eraser } from './outcome-erasure.ts';

/** Rows of one kind of one batch. */
interface Entry extends Omit<KeptRows, 'rows'> {
  /** Of these, some may be erased. */
  rows: string;
  /** The number of its batch. */
  readonly n: number;
  readonly takenAt: number;
  /** By how much the clock of its process was ahead. */
  readonly ahead: number;
}

/** What is kept of one kind of rows, the oldest first. */
interface Entries {
  readonly limit: number;
  readonly list: Entry[];
  count: number;
}

/**
 * An outcome log in memory.
 * @param now the store's clock; milliseconds since the epoch
 */
export function memoryLog(now: () => number): OutcomeLog {
  /** When it was taken, by the batch's id; the oldest first. */
  const batches = new Map<string, number>();
  const others: Entries = { limit: LOG_LIMITS.rows, list: [], count: 0 };
  const failures: Entries = { limit: LOG_LIMITS.failures, list: [], count: 0 };
  const counters = new Map<CounterSeries, Map<number, Map<string, number>>>(
    SERIES_NAMES.map((series) => [series, new Map()]),
  );
  /** By name; the oldest first. */
  let marks = new Map<string, number>();
  const processes = new Map<string, SeenProcess>();
  let n = 0;

  function append(batch: OutcomeBatch): void {
    const { id, process, counts } = batch;
    if (batches.has(id)) return;
    const takenAt = now();
    batches.set(id, takenAt);
    n += 1;
    const ahead = clockAhead(process.at, takenAt);
    keep(others, keptRows(batch.rows, ahead), { n, takenAt, ahead });
    keep(failures, keptRows(batch.failures, ahead), { n, takenAt, ahead });
    processes.delete(process.id);
    processes.set(process.id, { ...process, seenAt: takenAt });
    for (const series of SERIES_NAMES)
      for (const [period, added] of Object.entries(counts[series] ?? {}))
        addAll(series, Number(period), added);
    for (const [name, at] of Object.entries(batch.marks)) {
      const time = Math.max(marks.get(name) ?? -Infinity, Math.min(at - ahead, takenAt));
      marks.set(name, time);
    }
    forget(takenAt);
  }

  function keep(
    entries: Entries,
    kept: KeptRows | undefined,
    batch: Omit<Entry, keyof KeptRows>,
  ): void {
    if (!kept) return;
    entries.list.push({ ...kept, ...batch });
    entries.count += kept.count;
  }

  function addAll(series: CounterSeries, period: number, added: Record<string, number>): void {
    const periods = counters.get(series) as Map<number, Map<string, number>>;
    const sums = periods.get(period) ?? new Map<string, number>();
    periods.set(period, sums);
    for (const [name, count] of Object.entries(added))
      sums.set(name, (sums.get(name) ?? 0) + count);
  }

  function forget(at: number): void {
    for (const entries of [others, failures]) {
      let gone = 0;
      for (const { takenAt, count } of entries.list) {
        if (takenAt >= at - LOG_LIMITS.rowsMs && entries.count <= entries.limit) break;
        entries.count -= count;
        gone += 1;
      }
      entries.list.splice(0, gone);
    }
    for (const [id, takenAt] of batches)
      if (takenAt < at - LOG_LIMITS.batchMs) batches.delete(id);
      else break;
    for (const [series, periods] of counters) {
      const [first, last] = keptPeriods(series, at);
      for (const period of periods.keys())
        if (period < first || period > last) periods.delete(period);
    }
    if (marks.size > LOG_LIMITS.marks) {
      const newest = [...marks].sort(([, one], [, other]) => one - other);
      marks = new Map(newest.slice(-LOG_LIMITS.marks));
    }
    for (const { id, seenAt } of processes.values())
      if (seenAt < at - LOG_LIMITS.processesMs || processes.size > LOG_LIMITS.processes)
        processes.delete(id);
  }

  return {
    append: async (batch) => append(batch),
    async read(query = {}) {
      const { only, batches: limit = 20, since = -Infinity, until = Infinity } = query;
      const end = batchBefore(query.before) ?? Infinity;
      const oldest = now() - LOG_LIMITS.rowsMs;
      const found = new Map<number, Entry[]>();
      for (const entry of newestFirst(only === 'failures' ? [failures] : [others, failures])) {
        if (entry.n >= end || entry.takenAt < oldest) continue;
        if (entry.last < since || entry.first > until) continue;
        if (found.size > limit && !found.has(entry.n)) break;
        found.set(entry.n, [...(found.get(entry.n) ?? []), entry]);
      }
      const page = [...found].slice(0, limit);
      const rows = page.flatMap(([, kept]) => rowsOfBatch(kept, query));
      return { rows, ...(found.size > limit && { before: String(page.at(-1)?.[0]) }) };
    },
    async counts(series, since, until, prefix = '') {
      const [first, last] = keptPeriods(series, now());
      const counted = new Map<number, Record<string, number>>();
      for (const [period, sums] of counters.get(series) ?? []) {
        if (period < Math.max(first, since) || period > Math.min(last, until)) continue;
        const found = [...sums].filter(([name]) => name.startsWith(prefix));
        if (found.length > 0) counted.set(period, Object.fromEntries(found));
      }
      return counted;
    },
    async marks() {
      const at = now();
      const kept = [...marks].filter(([, time]) => time >= at - LOG_LIMITS.marksMs);
      return { now: at, marks: Object.fromEntries(kept) };
    },
    async erase(which) {
      const erased = eraser(which);
      let sum = 0;
      if (erased)
        for (const { list } of [others, failures])
          for (const entry of list) {
            const left = erased(entry);
            entry.rows = left.rows;
            sum += left.erased;
          }
      return sum;
    },
    async processes() {
      const oldest = now() - LOG_LIMITS.processesMs;
      return [...processes.values()].filter(({ seenAt }) => seenAt >= oldest);
    },
  };
}

/** Merges entries by their numbers. */
function* newestFirst(kinds: readonly Entries[]): Generator<Entry> {
  const left = kinds.map(({ list }) => ({ list, at: list.length - 1 }));
  for (;;) {
    let newest = left[0];
    for (const one of left)
      if ((one.list[one.at]?.n ?? 0) > (newest?.list[newest.at]?.n ?? 0)) newest = one;
    const entry = newest?.list[newest.at];
    if (!newest || !entry) return;
    newest.at -= 1;
    yield entry;
  }
}
