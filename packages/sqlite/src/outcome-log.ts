import {
  batchBefore,
  clockAhead,
  eraser,
  keptPeriods,
  keptRows,
  LOG_LIMITS,
  type LogProcess,
  type OutcomeBatch,
  type OutcomeLog,
  rowsOfBatch,
  SERIES_NAMES,
} from '@call-webhooks/core/stores';
import { integer, isRefused, text, type Row, type Statements } from './database.ts';
import type { Transactions } from './transactions.ts';

/** How many batches one transaction reads at most, to erase rows, so that the process does not stand still. */
const MOST_READ = 50;
/** How many batches are removed at a time of those that are too old. */
const MOST_OLD = 500;

/** The outcome log of `sqliteStore`. */
export function sqliteOutcomeLog(
  transactions: Transactions,
  prefix: string,
  now: () => number,
): OutcomeLog {
  const batches = `${prefix}log_batches`;
  const keptAs = `${prefix}log_rows`;
  const counters = `${prefix}log_counts`;
  const marks = `${prefix}log_marks`;
  const processes = `${prefix}log_processes`;

  function append(sql: Statements, { id, process, ...batch }: OutcomeBatch): void {
    const at = now();
    if (!sql.change(`INSERT OR IGNORE INTO ${batches} (id, taken_at) VALUES (?, ?)`, id, at))
      return;
    const ahead = clockAhead(process.at, at);
    const n = 1 + first(sql, `SELECT coalesce(max(n), 0) AS "found" FROM ${keptAs}`);
    for (const [failures, rows] of [batch.rows, batch.failures].entries()) {
      const kept = keptRows(rows, ahead);
      if (!kept) continue;
      const earlier = first(
        sql,
        `SELECT earlier + count AS "found" FROM ${keptAs} WHERE failures = ? ORDER BY earlier DESC LIMIT 1`,
        failures,
      );
      sql.change(
        `INSERT INTO ${keptAs} (n, failures, earlier, count, taken_at, first_at, last_at, ahead, rows)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[n, failures, earlier, kept.count, at, kept.first, kept.last, ahead, kept.rows],
      );
      const limit = failures ? LOG_LIMITS.failures : LOG_LIMITS.rows;
      sql.change(
        `DELETE FROM ${keptAs} WHERE failures = ? AND earlier < ?`,
        ...[failures, earlier + kept.count - limit],
      );
    }
    const put = `INSERT OR REPLACE INTO ${processes} (id, process, seen_at) VALUES (?, ?, ?)`;
    sql.change(put, process.id, JSON.stringify(process), at);
    count(sql, batch.counts, at);
    for (const [name, markedAt] of Object.entries(batch.marks))
      sql.change(
        `INSERT INTO ${marks} (name, at) VALUES (?, ?)
         ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE at < excluded.at`,
        ...[name, Math.min(markedAt - ahead, at)],
      );
    forget(sql, at);
  }

  function count(sql: Statements, counts: OutcomeBatch['counts'], at: number): void {
    for (const series of SERIES_NAMES) {
      const [from, to] = keptPeriods(series, at);
      for (const [period, added] of Object.entries(counts[series] ?? {})) {
        if (Number(period) < from || Number(period) > to) continue;
        for (const [name, by] of Object.entries(added))
          sql.change(
            `INSERT INTO ${counters} (series, at, name, count) VALUES (?, ?, ?, ?)
             ON CONFLICT (series, at, name) DO UPDATE SET count = count + excluded.count`,
            ...[series, Number(period), name, by],
          );
      }
    }
  }

  function forget(sql: Statements, at: number): void {
    sql.change(
      `DELETE FROM ${keptAs} WHERE n IN (
         SELECT n FROM (SELECT n, taken_at FROM ${keptAs} ORDER BY n LIMIT ?) WHERE taken_at < ?)`,
      ...[MOST_OLD, at - LOG_LIMITS.rowsMs],
    );
    sql.change(
      `DELETE FROM ${batches} WHERE id IN (
         SELECT id FROM ${batches} WHERE taken_at < ? ORDER BY taken_at LIMIT ?)`,
      ...[at - LOG_LIMITS.batchMs, MOST_OLD],
    );
    for (const series of SERIES_NAMES) {
      const [from, to] = keptPeriods(series, at);
      sql.change(`DELETE FROM ${counters} WHERE series = ? AND at < ?`, series, from);
      sql.change(`DELETE FROM ${counters} WHERE series = ? AND at > ?`, series, to);
    }
    const newest = (table: string, key: string, by: string) =>
      `${key} IN (SELECT ${key} FROM ${table} ORDER BY ${by} DESC LIMIT -1 OFFSET ?)`;
    sql.change(
      `DELETE FROM ${marks} WHERE at < ? OR ${newest(marks, 'name', 'at')}`,
      ...[at - LOG_LIMITS.marksMs, LOG_LIMITS.marks],
    );
    sql.change(
      `DELETE FROM ${processes} WHERE seen_at < ? OR ${newest(processes, 'id', 'seen_at')}`,
      ...[at - LOG_LIMITS.processesMs, LOG_LIMITS.processes],
    );
  }

  /** Erases rows of the next batches. @returns how many, and where to go on */
  function eraseSome(
    sql: Statements,
    erased: NonNullable<ReturnType<typeof eraser>>,
    from: number,
  ): { sum: number; next: number | undefined } {
    const found = sql.rows(
      `SELECT rowid AS "id", rows AS "rows", ahead AS "ahead" FROM ${keptAs} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
      ...[from, MOST_READ],
    );
    let sum = 0;
    for (const row of found) {
      const left = erased({ rows: text(row, 'rows'), ahead: integer(row, 'ahead') });
      if (left.erased === 0) continue;
      sql.change(`UPDATE ${keptAs} SET rows = ? WHERE rowid = ?`, left.rows, integer(row, 'id'));
      sum += left.erased;
    }
    const last = found.at(-1);
    return { sum, next: last && found.length === MOST_READ ? integer(last, 'id') : undefined };
  }

  const select = (query: string, ...values: (string | number)[]) =>
    transactions.run((sql) => sql.rows(query, ...values));

  return {
    async append(batch) {
      try {
        await transactions.run((sql) => append(sql, batch));
      } catch (error) {
        // Its content is refused: it would be refused for ever, and the batches after it wait for it.
        if (isRefused(error)) return { refused: error };
        throw error;
      }
      return undefined;
    },
    async read(query = {}) {
      const { before, batches: limit = 20, only, since = 0, until = Infinity } = query;
      const found = await select(
        `SELECT n, json_group_array(json_object('rows', rows, 'ahead', ahead, 'failures', failures)) AS "kept" FROM ${keptAs}
         WHERE n < ? AND last_at >= ? AND first_at <= ? AND failures >= ? AND taken_at >= ?
         GROUP BY n ORDER BY n DESC LIMIT ?`,
        ...[batchBefore(before) ?? Number.MAX_SAFE_INTEGER, since],
        ...[Math.min(until, Number.MAX_SAFE_INTEGER), only === 'failures' ? 1 : 0],
        ...[now() - LOG_LIMITS.rowsMs, limit + 1],
      );
      const page = found.slice(0, limit);
      const rows = page.flatMap((batch) => rowsOfBatch(keptOf(batch), query));
      const last = page.at(-1);
      return last && found.length > limit ? { rows, before: String(integer(last, 'n')) } : { rows };
    },
    async counts(series, since, until, namePrefix = '') {
      const [from, to] = keptPeriods(series, now());
      const counted = new Map<number, Record<string, number>>();
      for (const row of await select(
        `SELECT at AS "at", json_group_object(name, count) AS "counts" FROM ${counters}
         WHERE series = ? AND at BETWEEN ? AND ? AND substr(name, 1, length(?)) = ? GROUP BY at`,
        ...[series, Math.max(from, since), Math.min(to, until), namePrefix, namePrefix],
      ))
        counted.set(integer(row, 'at'), JSON.parse(text(row, 'counts')) as Record<string, number>);
      return counted;
    },
    async marks() {
      const at = now();
      const kept = `SELECT name AS "name", at AS "at" FROM ${marks} WHERE at >= ?`;
      const found = await select(kept, at - LOG_LIMITS.marksMs);
      const named = found.map((row) => [text(row, 'name'), integer(row, 'at')] as const);
      return { now: at, marks: Object.fromEntries(named) };
    },
    async erase(which) {
      const erased = eraser(which);
      let sum = 0;
      for (let from: number | undefined = erased && 0; erased && from !== undefined;) {
        const after: number = from;
        const some = await transactions.run((sql) => eraseSome(sql, erased, after));
        sum += some.sum;
        from = some.next;
      }
      return sum;
    },
    async processes() {
      const query = `SELECT process AS "process", seen_at AS "seenAt" FROM ${processes} WHERE seen_at >= ?`;
      return (await select(query, now() - LOG_LIMITS.processesMs)).map((row) => ({
        ...(JSON.parse(text(row, 'process')) as LogProcess),
        seenAt: integer(row, 'seenAt'),
      }));
    },
  };
}

/** A number that a query found; 0 if it found nothing. */
function first(sql: Statements, query: string, ...values: number[]): number {
  const row = sql.first(query, ...values);
  return row ? integer(row, 'found') : 0;
}

/** The rows of each kind of a batch, failures last. An aggregate of SQLite has no order. */
function keptOf(batch: Row) {
  const kept = JSON.parse(text(batch, 'kept')) as {
    rows: string;
    ahead: number;
    failures: number;
  }[];
  return kept.sort((one, other) => one.failures - other.failures);
}
