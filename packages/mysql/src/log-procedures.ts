import {
  COUNTER_SERIES,
  LOG_LIMITS,
  SAME_CLOCK_MS,
  SERIES_NAMES,
} from '@call-webhooks/core/stores';
import { CLOCK, COUNTER, KEY, type Procedure } from './procedure.ts';

/** How much one batch removes at most of what is too old. */
const MOST_OLD = 500;
/** After how many batches the marks and processes are removed that are too old or too many. */
const TIDY_EVERY = 50;

/**
 * The calls of the outcome log. A batch locks the one row of `log_position` first, so writers come one after the
 * other, and none waits for another one's rows.
 */
export function logProcedures(prefix: string): Procedure[] {
  const table = (name: string) => `${prefix}log_${name}`;
  const [batches, rows, position] = [table('batches'), table('rows'), table('position')];
  const [counts, marks, processes] = [table('counts'), table('marks'), table('processes')];
  /** How many rows of a kind there have been, for a position that was lost. */
  const total = (failures: number) =>
    `COALESCE((SELECT earlier + amount FROM ${rows} WHERE failures = ${String(failures)} ORDER BY earlier DESC LIMIT 1), 0)`;
  const keep = (failures: number, earlier: string, kind: string, limit: number) => `
    IF p_${kind}_amount > 0 THEN
      INSERT INTO ${rows} (n, failures, earlier, amount, taken_at, first_at, last_at, ahead, outcomes)
        VALUES (v_n, ${String(failures)}, ${earlier}, p_${kind}_amount, v_now, p_${kind}_first - v_ahead, p_${kind}_last - v_ahead, v_ahead, p_${kind});
      SET ${earlier} = ${earlier} + p_${kind}_amount;
      DELETE FROM ${rows} WHERE failures = ${String(failures)} AND earlier < ${earlier} - ${String(limit)} LIMIT ${String(MOST_OLD)};
    END IF;`;
  const kept = SERIES_NAMES.map((series) => {
    const { periodMs, keptMs } = COUNTER_SERIES[series];
    const first = `CEIL((v_now - ${String(keptMs)}) / ${String(periodMs)})`;
    const last = `FLOOR((v_now + ${String(keptMs)}) / ${String(periodMs)})`;
    const isSeries = `series = '${series}'`;
    return {
      added: `(${isSeries} AND period_number BETWEEN ${first} AND ${last})`,
      old: [`< ${first}`, `> ${last}`]
        .map(
          (which) =>
            `DELETE FROM ${counts} WHERE ${isSeries} AND period_number ${which} LIMIT ${String(MOST_OLD)};`,
        )
        .join('\n    '),
    };
  });
  const tidied = (name: string, key: string, at: string, keptMs: number, limit: number) => `
      DELETE FROM ${name} WHERE ${at} < v_now - ${String(keptMs)};
      DELETE FROM ${name} WHERE ${key} IN (SELECT ${key} FROM (
        SELECT ${key} FROM ${name} ORDER BY ${at} DESC LIMIT ${String(Number.MAX_SAFE_INTEGER)} OFFSET ${String(limit)}) AS old);`;

  return [
    {
      name: 'append_log',
      parameters: `p_id ${KEY}, p_process_id ${KEY}, p_process LONGBLOB, p_at BIGINT,
  p_others LONGBLOB, p_others_amount INT, p_others_first BIGINT, p_others_last BIGINT,
  p_failures LONGBLOB, p_failures_amount INT, p_failures_first BIGINT, p_failures_last BIGINT,
  p_counts LONGTEXT CHARACTER SET ascii, p_marks LONGTEXT CHARACTER SET ascii`,
      variables: `DECLARE v_n BIGINT; DECLARE v_others BIGINT; DECLARE v_failures BIGINT; DECLARE v_ahead BIGINT;`,
      body: `INSERT INTO ${position} (only_row, n, others, failures) VALUES (1, 0, 0, 0) ON DUPLICATE KEY UPDATE only_row = 1;
  SELECT n, others, failures INTO v_n, v_others, v_failures FROM ${position} WHERE only_row = 1 FOR UPDATE;
  SET v_now = ${CLOCK};
  IF NOT EXISTS (SELECT 1 FROM ${batches} WHERE id = p_id) THEN
    INSERT INTO ${batches} (id, taken_at) VALUES (p_id, v_now);
    SET v_ahead = IF(ABS(p_at - v_now) < ${String(SAME_CLOCK_MS)}, 0, p_at - v_now);
    SET v_n = 1 + GREATEST(v_n, COALESCE((SELECT MAX(n) FROM ${rows}), 0));
    SET v_others = GREATEST(v_others, ${total(0)});
    SET v_failures = GREATEST(v_failures, ${total(1)});
    ${keep(0, 'v_others', 'others', LOG_LIMITS.rows)}
    ${keep(1, 'v_failures', 'failures', LOG_LIMITS.failures)}
    UPDATE ${position} SET n = v_n, others = v_others, failures = v_failures WHERE only_row = 1;
    INSERT INTO ${counts} (series, period_number, name, amount)
      SELECT series, period_number, UNHEX(hex), added FROM JSON_TABLE(p_counts, '$[*]' COLUMNS (
        series VARCHAR(16) PATH '$[0]', period_number BIGINT PATH '$[1]', hex LONGTEXT PATH '$[2]', added BIGINT PATH '$[3]'
      )) AS counter WHERE ${kept.map(({ added }) => added).join('\n        OR ')}
      ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount);
    INSERT INTO ${marks} (name, marked_at)
      SELECT UNHEX(hex), LEAST(at_process - v_ahead, v_now) FROM JSON_TABLE(p_marks, '$[*]' COLUMNS (
        hex LONGTEXT PATH '$[0]', at_process BIGINT PATH '$[1]'
      )) AS mark
      ON DUPLICATE KEY UPDATE marked_at = GREATEST(marked_at, VALUES(marked_at));
    INSERT INTO ${processes} (id, process, seen_at) VALUES (p_process_id, p_process, v_now)
      ON DUPLICATE KEY UPDATE process = p_process, seen_at = v_now;
    DELETE FROM ${rows} WHERE taken_at < v_now - ${String(LOG_LIMITS.rowsMs)} LIMIT ${String(MOST_OLD)};
    DELETE FROM ${batches} WHERE taken_at < v_now - ${String(LOG_LIMITS.batchMs)} LIMIT ${String(MOST_OLD)};
    ${kept.map(({ old }) => old).join('\n    ')}
    IF v_n % ${String(TIDY_EVERY)} = 0 THEN${tidied(marks, 'name', 'marked_at', LOG_LIMITS.marksMs, LOG_LIMITS.marks)}${tidied(processes, 'id', 'seen_at', LOG_LIMITS.processesMs, LOG_LIMITS.processes)}
    END IF;
  END IF;`,
    },
    {
      name: 'read_log',
      parameters:
        'p_before BIGINT, p_limit INT, p_since BIGINT, p_until BIGINT, p_only_failures INT',
      body: `WITH found AS (
    SELECT n, failures, ahead, outcomes FROM ${rows} WHERE n < p_before AND last_at >= p_since AND first_at <= p_until
      AND failures >= p_only_failures AND taken_at >= v_now - ${String(LOG_LIMITS.rowsMs)}
  ), newest AS (SELECT DISTINCT n FROM found ORDER BY n DESC LIMIT p_limit)
  SELECT n, ahead, outcomes FROM found JOIN newest USING (n) ORDER BY n DESC, failures;`,
    },
    {
      name: 'log_kept',
      parameters: 'p_after BIGINT, p_limit INT',
      body: `WITH some AS (SELECT DISTINCT n FROM ${rows} WHERE n > p_after ORDER BY n LIMIT p_limit)
  SELECT n, failures, ahead, outcomes FROM ${rows} JOIN some USING (n) ORDER BY n;`,
    },
    {
      name: 'log_erase',
      parameters: 'p_n BIGINT, p_failures INT, p_before LONGBLOB, p_after LONGBLOB',
      variables: 'DECLARE v_changed INT;',
      body: `UPDATE ${rows} SET outcomes = p_after WHERE n = p_n AND failures = p_failures AND outcomes = p_before;
  SET v_changed = ROW_COUNT();`,
      answer: 'SELECT v_changed',
    },
    {
      name: 'log_counters',
      parameters: `p_series VARCHAR(16), p_since BIGINT, p_until BIGINT, p_prefix ${COUNTER}`,
      body: `SELECT period_number, name, amount FROM ${counts} WHERE series = p_series
    AND period_number BETWEEN p_since AND p_until AND LEFT(name, LENGTH(p_prefix)) = p_prefix;`,
    },
    {
      name: 'log_marked',
      parameters: '',
      body: `SELECT v_now, name, marked_at FROM (SELECT 1 AS one) AS one_row LEFT JOIN (
    SELECT name, marked_at FROM ${marks} WHERE marked_at >= v_now - ${String(LOG_LIMITS.marksMs)}
    ORDER BY marked_at DESC LIMIT ${String(LOG_LIMITS.marks)}) AS found ON TRUE;`,
    },
    {
      name: 'log_seen',
      parameters: '',
      body: `SELECT process, seen_at FROM ${processes} WHERE seen_at >= v_now - ${String(LOG_LIMITS.processesMs)}
    ORDER BY seen_at DESC LIMIT ${String(LOG_LIMITS.processes)};`,
    },
  ];
}
