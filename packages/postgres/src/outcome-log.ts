import {
  batchBefore,
  type OutcomeLog,
  type OutcomeRow,
  type SeenProcess,
} from '@call-webhooks/core/stores';
import type { CheckedClient } from './checked-client.ts';
import { oddAnswer, sqlState } from './client.ts';
import { guarded } from './statements.ts';

const MAX_BATCHES = 2_000;
const MAX_PROCESSES = 1_000;
const KEPT_MINUTES = 26 * 60;

/** The statements of the log. Those that delete wait for nobody, so writers can't block each other. */
function logStatements(schema: string) {
  const [batches, counts] = [`${schema}.log_batches`, `${schema}.log_counts`];
  const processes = `${schema}.log_processes`;
  const position = `${schema}.log_position`;
  const now = 'statement_timestamp()';
  const first = `(floor(extract(epoch FROM ${now}) / 60)::bigint - ${String(KEPT_MINUTES)})`;
  const forget = (table: string, key: string, which: string) =>
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${which} FOR UPDATE SKIP LOCKED)`;
  return guarded(schema, {
    /** $1 batch, $2 rows, $3 id of the process, $4 process, $5 counts: a list of minute, name and count. */
    append: `WITH position AS (
  INSERT INTO ${position} AS known (is_only, n)
  VALUES (true, 1 + coalesce((SELECT max(n) FROM ${batches}), 0))
  ON CONFLICT (is_only) DO UPDATE SET n = greatest(known.n + 1, excluded.n) RETURNING n
), new AS (
  INSERT INTO ${batches} (n, id, rows) SELECT n, $1::text, $2::text FROM position
  ON CONFLICT (id) DO NOTHING RETURNING n
), counted AS (
  INSERT INTO ${counts} AS known (minute, name, count)
  SELECT minute, name, count FROM json_to_recordset($5::text::json) AS added (minute bigint, name text, count bigint)
  WHERE minute >= ${first} AND EXISTS (SELECT FROM new) ORDER BY minute, name
  ON CONFLICT (minute, name) DO UPDATE SET count = known.count + excluded.count
), seen AS (
  INSERT INTO ${processes} AS known (id, process, seen_at)
  SELECT $3::text, $4::text, ${now} FROM new
  ON CONFLICT (id) DO UPDATE SET process = excluded.process, seen_at = excluded.seen_at
), old_batches AS (
  ${forget(batches, 'n', `n <= (SELECT n FROM new) - ${String(MAX_BATCHES)}`)}
), old_counts AS (
  ${forget(counts, 'minute, name', `minute < ${first}`)}
), old_processes AS (
  ${forget(
    processes,
    'id',
    `seen_at < ${now} - interval '${String(KEPT_MINUTES)} minutes' OR seen_at < (
    SELECT seen_at FROM ${processes} ORDER BY seen_at DESC OFFSET ${String(MAX_PROCESSES)} LIMIT 1)`,
  )}
) SELECT 'true' AS answer`,
    /** $1 the batch before which to read, or null; $2 how many. */
    read: `SELECT coalesce(json_agg(json_build_object('n', n, 'rows', rows) ORDER BY n DESC), '[]')::text AS answer
FROM (SELECT n, rows FROM ${batches} WHERE $1::bigint IS NULL OR n < $1::bigint ORDER BY n DESC LIMIT $2::int) AS found`,
    /** $1 the first and $2 the last minute. */
    counts: `SELECT coalesce(json_object_agg(minute, counters), '{}')::text AS answer FROM (
  SELECT minute, json_object_agg(name, count) AS counters FROM ${counts}
  WHERE minute BETWEEN $1::bigint AND $2::bigint GROUP BY minute) AS found`,
    processes: `SELECT coalesce(json_agg(json_build_object(
  'process', process::json, 'seenAt', floor(extract(epoch FROM seen_at) * 1000)::bigint)), '[]')::text AS answer
FROM ${processes}`,
  });
}

/** The outcome log of `postgresStore`. */
export function postgresOutcomeLog(tables: CheckedClient, schema: string): OutcomeLog {
  const sql = logStatements(schema);

  async function list<T>(text: string, ...values: unknown[]): Promise<T[]> {
    const answer = await tables.run(text, ...values);
    if (!Array.isArray(answer)) throw oddAnswer();
    return answer as T[];
  }

  return {
    async append({ id, process, rows, counts }) {
      const added = Object.entries(counts).flatMap(([minute, ofMinute]) =>
        Object.entries(ofMinute).map(([name, count]) => ({ minute, name, count })),
      );
      const texts = [JSON.stringify(rows), process.id, JSON.stringify(process)];
      try {
        await tables.run(sql.append, id, ...texts, JSON.stringify(added));
      } catch (error) {
        // Its content is refused: it would be refused for ever, and the batches after it wait for it.
        if (/^(?:22|23|54)/.test(sqlState(error) ?? '')) return { refused: error };
        throw error;
      }
      return undefined;
    },
    async read({ before, batches = 20 } = {}) {
      const found = await list<{ n: number; rows: string }>(
        sql.read,
        batchBefore(before) ?? null,
        batches + 1,
      );
      const page = found.slice(0, batches);
      const rows = page.flatMap((batch) => (JSON.parse(batch.rows) as OutcomeRow[]).reverse());
      return found.length > page.length ? { rows, before: String(page.at(-1)?.n) } : { rows };
    },
    async counts(since, until) {
      const minutes = Object(await tables.run(sql.counts, since, until)) as object;
      return new Map(Object.entries(minutes).map(([minute, counts]) => [Number(minute), counts]));
    },
    async processes() {
      const seen = await list<{ process: SeenProcess; seenAt: number }>(sql.processes);
      return seen.map(({ process, seenAt }) => ({ ...process, seenAt }));
    },
  };
}
