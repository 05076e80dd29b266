import type { LogProcess, OutcomeBatch, OutcomeLog, OutcomeRow } from './outcome-log.ts';

/** The bounds of a log in memory. */
const MAX_BATCHES = 2_000;
/** About 3 MB. */
const MAX_ROWS = 10_000;
const KEPT_MINUTES = 26 * 60;
const MAX_PROCESSES = 1_000;

/**
 * An outcome log in memory. Rows are kept as JSON: an object may hold on to the whole text that its
 * ids were cut out of.
 */
export function memoryLog(): OutcomeLog {
  /** By the batch's id, the oldest first. */
  const batches = new Map<string, { at: number; count: number; rows: string }>();
  const counters = new Map<number, Map<string, number>>();
  const processes = new Map<string, LogProcess>();
  let lastAt = 0;
  let rowCount = 0;

  function append({ id, process, rows, counts }: OutcomeBatch): void {
    if (batches.has(id)) return;
    batches.set(id, { at: (lastAt += 1), count: rows.length, rows: JSON.stringify(rows) });
    rowCount += rows.length;
    processes.delete(process.id);
    processes.set(process.id, process);
    for (const [minute, added] of Object.entries(counts)) addAll(Number(minute), added);
    forget();
  }

  function addAll(minute: number, added: Readonly<Record<string, number>>): void {
    const sums = counters.get(minute) ?? new Map<string, number>();
    counters.set(minute, sums);
    for (const [name, count] of Object.entries(added))
      sums.set(name, (sums.get(name) ?? 0) + count);
  }

  function forget(): void {
    for (const [id, { count }] of batches) {
      if (batches.size <= MAX_BATCHES && rowCount <= MAX_ROWS) break;
      batches.delete(id);
      rowCount -= count;
    }
    const newest = [...counters.keys()].reduce((one, other) => Math.max(one, other), 0);
    const first = newest - KEPT_MINUTES;
    for (const minute of counters.keys()) if (minute < first) counters.delete(minute);
    for (const { id, at } of processes.values())
      if (at < first * 60_000 || processes.size > MAX_PROCESSES) processes.delete(id);
  }

  return {
    append: async (batch) => append(batch),
    async read({ before, batches: limit = 20 } = {}) {
      const older = [...batches.values()]
        .filter(({ at }) => before === undefined || at < Number(before))
        .reverse();
      const page = older.slice(0, limit);
      const rows = page.flatMap((batch) => (JSON.parse(batch.rows) as OutcomeRow[]).reverse());
      const hasMore = older.length > page.length;
      return { rows, ...(hasMore && { before: String(page.at(-1)?.at) }) };
    },
    async counts(since, until) {
      const found = [...counters].filter(([minute]) => minute >= since && minute <= until);
      return new Map(found.map(([minute, sums]) => [minute, Object.fromEntries(sums)]));
    },
    processes: async () => [...processes.values()].map((seen) => ({ ...seen, seenAt: seen.at })),
  };
}
