import {
  batchBefore,
  type LogProcess,
  type OutcomeBatch,
  type OutcomeLog,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { integer, text, type Statements } from './database.ts';
import type { Transactions } from './transactions.ts';

const MAX_BATCHES = 2_000;
const MAX_PROCESSES = 1_000;
const KEPT_MINUTES = 26 * 60;
const MINUTE_MS = 60_000;

/** The outcome log of `sqliteStore`. */
export function sqliteOutcomeLog(
  transactions: Transactions,
  prefix: string,
  now: () => number,
): OutcomeLog {
  const batches = `${prefix}log_batches`;
  const counters = `${prefix}log_counts`;
  const processes = `${prefix}log_processes`;

  function append(sql: Statements, { id, process, rows, counts }: OutcomeBatch): void {
    const insert = `INSERT OR IGNORE INTO ${batches} (id, rows) VALUES (?, ?)`;
    if (!sql.change(insert, id, JSON.stringify(rows))) return;
    const put = `INSERT OR REPLACE INTO ${processes} (id, process, seen_at) VALUES (?, ?, ?)`;
    sql.change(put, process.id, JSON.stringify(process), now());
    for (const [minute, added] of Object.entries(counts))
      for (const [name, count] of Object.entries(added))
        sql.change(
          `INSERT INTO ${counters} (minute, name, count) VALUES (?, ?, ?)
           ON CONFLICT (minute, name) DO UPDATE SET count = count + excluded.count`,
          ...[Number(minute), name, count],
        );
    forget(sql);
  }

  function forget(sql: Statements): void {
    const first = Math.floor(now() / MINUTE_MS) - KEPT_MINUTES;
    const oldest = `(SELECT max(n) FROM ${batches}) - ${String(MAX_BATCHES)}`;
    sql.change(`DELETE FROM ${batches} WHERE n <= ${oldest}`);
    sql.change(`DELETE FROM ${counters} WHERE minute < ?`, first);
    sql.change(
      `DELETE FROM ${processes} WHERE seen_at < ? OR id IN (
         SELECT id FROM ${processes} ORDER BY seen_at DESC LIMIT -1 OFFSET ${String(MAX_PROCESSES)})`,
      first * MINUTE_MS,
    );
  }

  const select = (query: string, ...values: number[]) =>
    transactions.run((sql) => sql.rows(query, ...values));

  return {
    append: (batch) => transactions.run((sql) => append(sql, batch)),
    async read({ before, batches: limit = 20 } = {}) {
      const found = await select(
        `SELECT n, rows AS "rows" FROM ${batches} WHERE n < ? ORDER BY n DESC LIMIT ?`,
        ...[batchBefore(before) ?? Number.MAX_SAFE_INTEGER, limit + 1],
      );
      const page = found.slice(0, limit);
      const rows = page.flatMap((row) => (JSON.parse(text(row, 'rows')) as OutcomeRow[]).reverse());
      const last = page.at(-1);
      return last && found.length > limit ? { rows, before: String(integer(last, 'n')) } : { rows };
    },
    async counts(since, until) {
      const counted = new Map<number, Record<string, number>>();
      for (const row of await select(
        `SELECT minute AS "minute", json_group_object(name, count) AS "counts" FROM ${counters}
         WHERE minute BETWEEN ? AND ? GROUP BY minute`,
        ...[since, until],
      ))
        counted.set(
          integer(row, 'minute'),
          JSON.parse(text(row, 'counts')) as Record<string, number>,
        );
      return counted;
    },
    async processes() {
      const query = `SELECT process AS "process", seen_at AS "seenAt" FROM ${processes}`;
      return (await select(query)).map((row) => ({
        ...(JSON.parse(text(row, 'process')) as LogProcess),
        seenAt: integer(row, 'seenAt'),
      }));
    },
  };
}
