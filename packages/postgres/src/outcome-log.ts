import {
  batchBefore,
  COUNTER_SERIES,
  type Counters,
  eraser,
  keptRows,
  LOG_LIMITS,
  type OutcomeLog,
  type OutcomeRow,
  rowsOfBatch,
  SAME_CLOCK_MS,
  type SeenProcess,
  SERIES_NAMES,
} from '@call-webhooks/core/stores';
import type { CheckedClient } from './checked-client.ts';
import { oddAnswer, sqlState } from './client.ts';
import { guarded } from './statements.ts';

/** How many batches are read at a time, whole, to erase rows of them. */
const MOST_READ = 100;
/** How much one batch removes at most of what is too old. */
const MOST_OLD = 500;
/** After how many batches the marks and processes are removed that are too old or too many. */
const TIDY_EVERY = 50;

const NOW_MS = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';
/** The first and the last period of each series that is kept. */
const KEPT_PERIODS = SERIES_NAMES.map((name) => {
  const { periodMs, keptMs } = COUNTER_SERIES[name];
  const period = (time: string) => `(${time})::float8 / ${String(periodMs)}`;
  return `SELECT '${name}' AS series, ceil(${period(`now - ${String(keptMs)}`)})::bigint AS first, floor(${period(`now + ${String(keptMs)}`)})::bigint AS last FROM clock`;
}).join('\n  UNION ALL ');

/**
 * The statements of the log. Appends lock the one row of `log_position` before anything else that others change,
 * so writers come one after the other and cannot block each other for ever.
 */
function logStatements(schema: string) {
  const [batches, rows] = [`${schema}.log_batches`, `${schema}.log_rows`];
  const [counts, marks] = [`${schema}.log_counts`, `${schema}.log_marks`];
  const [processes, position] = [`${schema}.log_processes`, `${schema}.log_position`];
  /** How many rows of a kind there have been, for a position that was lost. */
  const total = (kind: string) =>
    `coalesce((SELECT earlier + count FROM ${rows} WHERE ${kind} ORDER BY earlier DESC LIMIT 1), 0)`;
  const added = (kind: string) => `(SELECT coalesce(sum(count), 0) FROM given WHERE ${kind})`;
  const tooMany = (kind: string, counter: string, limit: number) =>
    `DELETE FROM ${rows} WHERE ${kind} AND earlier < (SELECT ${counter} FROM position) - ${String(limit)}`;
  const old = (where: string) => `(SELECT series, at, name FROM ${counts}
    WHERE series = kept.series AND ${where} LIMIT ${String(MOST_OLD)})`;
  const isTidied = `(SELECT n % ${String(TIDY_EVERY)} FROM position) = 0`;
  const newest = (table: string, key: string, at: string, limit: number) =>
    `${key} IN (SELECT ${key} FROM ${table} ORDER BY ${at} DESC OFFSET ${String(limit)})`;
  return guarded(schema, {
    /**
     * $1 batch, $2 id of the process, $3 process, $4 its time; $5 the rows of each kind, $6 counters and $7 marks,
     * as lists in JSON.
     */
    append: `WITH clock AS MATERIALIZED (
  SELECT now, CASE WHEN abs($4::bigint - now) < ${String(SAME_CLOCK_MS)} THEN 0 ELSE $4::bigint - now END AS ahead
  FROM (SELECT ${NOW_MS} AS now) AS server
), given AS MATERIALIZED (
  SELECT * FROM json_to_recordset($5::text::json)
    AS given(failures boolean, count bigint, first bigint, last bigint, rows text)
), new AS (
  INSERT INTO ${batches} (id, taken_at) SELECT $1::text, now FROM clock
  ON CONFLICT (id) DO NOTHING RETURNING id
), position AS (
  INSERT INTO ${position} AS known (is_only, n, others, failures)
  SELECT true, 1 + coalesce((SELECT max(n) FROM ${rows}), 0),
    ${total('NOT failures')} + ${added('NOT failures')}, ${total('failures')} + ${added('failures')}
  FROM new
  ON CONFLICT (is_only) DO UPDATE SET n = greatest(known.n + 1, excluded.n),
    others = greatest(known.others + ${added('NOT given.failures')}, excluded.others),
    failures = greatest(known.failures + ${added('given.failures')}, excluded.failures)
  RETURNING n, others, failures
), kept AS (
  ${KEPT_PERIODS}
), added AS (
  INSERT INTO ${rows} (n, failures, earlier, count, taken_at, first_at, last_at, ahead, rows)
  SELECT n, given.failures, CASE WHEN given.failures THEN position.failures ELSE others END - count,
    count, now, first - ahead, last - ahead, ahead, rows
  FROM given, position, clock
), counted AS (
  INSERT INTO ${counts} AS known (series, at, name, count)
  SELECT series, at, name, count
  FROM json_to_recordset($6::text::json) AS counter(series text, at bigint, name text, count bigint)
    JOIN kept USING (series), position
  WHERE at BETWEEN first AND last ORDER BY series COLLATE "C", at, name COLLATE "C"
  ON CONFLICT (series, at, name) DO UPDATE SET count = known.count + excluded.count
), marked AS (
  INSERT INTO ${marks} AS known (name, at)
  SELECT name, least(at - ahead, now)
  FROM json_to_recordset($7::text::json) AS mark(name text, at bigint), position, clock
  ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE known.at < excluded.at
), seen AS (
  INSERT INTO ${processes} AS known (id, process, seen_at)
  SELECT $2::text, $3::text, now FROM position, clock
  ON CONFLICT (id) DO UPDATE SET process = excluded.process, seen_at = excluded.seen_at
), more_rows AS (
  ${tooMany('NOT failures', 'others', LOG_LIMITS.rows)}
), more_failures AS (
  ${tooMany('failures', 'failures', LOG_LIMITS.failures)}
), old_rows AS (
  DELETE FROM ${rows} WHERE n IN (
    SELECT oldest.n FROM (SELECT n, taken_at FROM ${rows} ORDER BY n LIMIT ${String(MOST_OLD)}) AS oldest, position, clock
    WHERE taken_at < now - ${String(LOG_LIMITS.rowsMs)})
), old_batches AS (
  DELETE FROM ${batches} WHERE id IN (
    SELECT id FROM ${batches}, position
    WHERE taken_at < (SELECT now FROM clock) - ${String(LOG_LIMITS.batchMs)}
    ORDER BY taken_at LIMIT ${String(MOST_OLD)})
), old_counts AS (
  DELETE FROM ${counts} AS known USING position, kept, LATERAL (
    ${old('at < kept.first')} UNION ALL ${old('at > kept.last')}) AS gone
  WHERE known.series = gone.series AND known.at = gone.at AND known.name = gone.name
), old_marks AS (
  DELETE FROM ${marks} WHERE ${isTidied} AND (
    at < (SELECT now FROM clock) - ${String(LOG_LIMITS.marksMs)}
    OR ${newest(marks, 'name', 'at', LOG_LIMITS.marks)})
), old_processes AS (
  DELETE FROM ${processes} WHERE ${isTidied} AND (
    seen_at < (SELECT now FROM clock) - ${String(LOG_LIMITS.processesMs)}
    OR ${newest(processes, 'id', 'seen_at', LOG_LIMITS.processes)})
) SELECT 'true' AS answer`,
    /** $1 the batch before which to read, or null; $2 how many; $3 since and $4 until, or null; $5 only failures. */
    read: `SELECT coalesce(json_agg(json_build_object('n', n, 'kept', kept) ORDER BY n DESC), '[]')::text AS answer
FROM (
  SELECT n, json_agg(json_build_object('rows', rows, 'ahead', ahead) ORDER BY failures) AS kept FROM ${rows}
  WHERE ($1::bigint IS NULL OR n < $1::bigint) AND ($3::bigint IS NULL OR last_at >= $3::bigint)
    AND ($4::bigint IS NULL OR first_at <= $4::bigint) AND (failures OR NOT $5::boolean)
    AND taken_at >= ${NOW_MS} - ${String(LOG_LIMITS.rowsMs)}
  GROUP BY n ORDER BY n DESC LIMIT $2::int) AS found`,
    /** $1 the series, $2 the first and $3 the last period, $4 what the names begin with. */
    counts: `SELECT coalesce(json_object_agg(at, counters), '{}')::text AS answer FROM (
  SELECT at, json_object_agg(name, count) AS counters FROM ${counts}
  WHERE series = $1::text AND at BETWEEN $2::bigint AND $3::bigint AND starts_with(name, $4::text) GROUP BY at) AS found`,
    marks: `SELECT json_build_object('now', ${NOW_MS}, 'marks', coalesce(json_object_agg(name, at), '{}'))::text AS answer
FROM (
  SELECT name, at FROM ${marks} WHERE at >= ${NOW_MS} - ${String(LOG_LIMITS.marksMs)}
  ORDER BY at DESC LIMIT ${String(LOG_LIMITS.marks)}) AS found`,
    /** $1 after which batch to begin, $2 how many batches. */
    all: `SELECT coalesce(json_agg(json_build_object('n', n, 'failures', failures, 'ahead', ahead, 'rows', rows) ORDER BY n), '[]')::text AS answer
FROM ${rows} JOIN (SELECT DISTINCT n FROM ${rows} WHERE n > $1::bigint ORDER BY n LIMIT $2::int) AS page USING (n)`,
    /** $1 rows that change, as a list in JSON, with what they were before. Answers which did. */
    change: `WITH changed AS (
  UPDATE ${rows} AS known SET rows = change.rows
  FROM json_to_recordset($1::text::json) AS change(n bigint, failures boolean, before text, rows text)
  WHERE known.n = change.n AND known.failures = change.failures AND known.rows = change.before
  RETURNING known.n, known.failures
) SELECT coalesce(json_agg(json_build_object('n', n, 'failures', failures)), '[]')::text AS answer FROM changed`,
    processes: `SELECT coalesce(json_agg(json_build_object('process', process::json, 'seenAt', seen_at)), '[]')::text AS answer
FROM (
  SELECT process, seen_at FROM ${processes} WHERE seen_at >= ${NOW_MS} - ${String(LOG_LIMITS.processesMs)}
  ORDER BY seen_at DESC LIMIT ${String(LOG_LIMITS.processes)}) AS found`,
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
    async append({ id, process, rows, failures, counts, marks }) {
      const lists = [
        [...keptList(rows, false), ...keptList(failures, true)],
        SERIES_NAMES.flatMap((series) => countersOf(series, counts[series] ?? {})),
        Object.entries(marks).map(([name, at]) => ({ name, at })),
      ].map((entries) => JSON.stringify(entries));
      const writer = [process.id, JSON.stringify(process), process.at];
      try {
        await tables.run(sql.append, id, ...writer, ...lists);
      } catch (error) {
        // Its content is refused: it would be refused for ever, and the batches after it wait for it.
        if (/^(?:22|23|54)/.test(sqlState(error) ?? '')) return { refused: error };
        throw error;
      }
      return undefined;
    },
    async read(query = {}) {
      const { before, batches = 20, since, until, only } = query;
      const found = await list<{ n: number; kept: { rows: string; ahead: number }[] }>(
        ...([sql.read, batchBefore(before) ?? null, batches + 1] as const),
        ...[wholeOrNull(since), wholeOrNull(until), only === 'failures'],
      );
      const page = found.slice(0, batches);
      const rows = page.flatMap(({ kept }) => rowsOfBatch(kept, query));
      return found.length > page.length ? { rows, before: String(page.at(-1)?.n) } : { rows };
    },
    async counts(series, since, until, prefix = '') {
      const range = [since, until].map((period) => wholeOrNull(period) ?? Number.MAX_SAFE_INTEGER);
      const periods = Object(await tables.run(sql.counts, series, ...range, prefix)) as object;
      return new Map(Object.entries(periods).map(([period, counts]) => [Number(period), counts]));
    },
    async marks() {
      const found = Object(await tables.run(sql.marks)) as Awaited<ReturnType<OutcomeLog['marks']>>;
      if (typeof found.now !== 'number') throw oddAnswer();
      return found;
    },
    async erase(which) {
      const erased = eraser(which);
      let sum = 0;
      for (let from: number | undefined = erased && 0; erased && from !== undefined;) {
        const found: StoredRows[] = await list<StoredRows>(sql.all, from, MOST_READ);
        const changes = found
          .map((one) => ({ ...one, before: one.rows, ...erased(one) }))
          .filter((one) => one.erased > 0);
        const changed =
          changes.length > 0 ? await list<StoredRows>(sql.change, JSON.stringify(changes)) : [];
        const done = changes.filter((one) =>
          changed.some(({ n, failures }) => n === one.n && failures === one.failures),
        );
        sum += done.reduce((total, one) => total + one.erased, 0);
        // Somebody else has erased others of these rows, or the log has dropped them: then once more.
        if (done.length < changes.length) continue;
        from = found.at(-1)?.n;
      }
      return sum;
    },
    async processes() {
      const seen = await list<{ process: SeenProcess; seenAt: number }>(sql.processes);
      return seen.map(({ process, seenAt }) => ({ ...process, seenAt }));
    },
  };
}

/** The rows of one kind of one batch. */
interface StoredRows {
  readonly n: number;
  readonly failures: boolean;
  readonly ahead: number;
  readonly rows: string;
}

function keptList(rows: readonly OutcomeRow[], failures: boolean): object[] {
  const kept = keptRows(rows);
  return kept ? [{ failures, ...kept }] : [];
}

const countersOf = (series: string, counters: Counters) =>
  Object.entries(counters).flatMap(([at, added]) =>
    Object.entries(added).map(([name, count]) => ({ series, at, name, count })),
  );

const wholeOrNull = (time: number | undefined) =>
  time === undefined || !Number.isFinite(time) ? null : Math.floor(time);
