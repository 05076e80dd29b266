import { MAX_FAILURES } from '@call-webhooks/core/stores';
import { literal, type Completion } from './complete-in.ts';
import type { SqliteDatabase } from './database.ts';

/**
 * The table of a queue. `due_at` is when something happens to a job next: an `open` job without a
 * token may be run, one with a token loses its lease, a `done` job is forgotten. A `dead` job stays.
 * An `open` job has an `error` once it failed: without a token, it waits for its next attempt.
 * `failures` has the last 50 failed attempts, as JSON. `crashes` counts the last runs in a row that
 * ended with their process, or without reporting a result. With `abandon_reason` no handler is run any
 * more. `is_last_run` is 1 for a job that was retried by hand. Times are milliseconds since the epoch.
 */
export const jobSchema = (prefix: string) => `
CREATE TABLE IF NOT EXISTS ${prefix}jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL DEFAULT 'open',
  due_at INTEGER NOT NULL,
  token TEXT,
  attempt INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  abandon_reason TEXT,
  is_last_run INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  failures TEXT,
  delivery TEXT
);
CREATE INDEX IF NOT EXISTS ${prefix}jobs_due ON ${prefix}jobs (state, due_at);`;

/**
 * Completes a job in a transaction of the user. The token stays, so that it may be repeated, and so that
 * the run can tell that it was this one.
 */
export const jobCompletion = (
  prefix: string,
  id: number,
  token: string,
  forgetAt: number,
): Completion => ({
  update: `UPDATE ${prefix}jobs SET state = 'done', due_at = ${String(forgetAt)}, error = NULL, failures = NULL, delivery = NULL`,
  where: `id = ${String(id)} AND token = ${literal(token)} AND state IN ('open', 'done')`,
});

/**
 * The statements of a queue. Each runs within a transaction that has the write lock. Parameters have
 * no numbers, since better-sqlite3 takes `?1` for a name.
 */
export function jobStatements(db: SqliteDatabase, prefix: string) {
  const jobs = `${prefix}jobs`;
  const held = `id = ? AND token = ? AND state = 'open'`;
  const addFailure = `failures = json_insert(
    CASE WHEN json_array_length(failures) >= ${String(MAX_FAILURES)} THEN json_remove(failures, '$[0]')
      ELSE coalesce(failures, '[]') END, '$[#]', json(?))`;
  const notOneOf = 'id NOT IN (SELECT value FROM json_each(?))';
  return {
    /** A known event changes nothing, unless it should be forgotten by now. */
    add: db.prepare(
      `INSERT INTO ${jobs} (event, due_at, delivery) VALUES (?, ?, ?)
       ON CONFLICT (event) DO UPDATE SET
         state = 'open', due_at = excluded.due_at, token = NULL, attempt = 0, crashes = 0,
         abandon_reason = NULL, is_last_run = 0, error = NULL, failures = NULL, delivery = excluded.delivery
       WHERE state = 'done' AND due_at <= excluded.due_at`,
    ),
    take: db.prepare(
      `UPDATE ${jobs} SET token = ?, due_at = ?, attempt = attempt + 1, crashes = crashes + (token IS NOT NULL)
       WHERE id IN (SELECT id FROM ${jobs} WHERE state = 'open' AND due_at <= ? AND ${notOneOf} ORDER BY due_at, id LIMIT ?)
       RETURNING id, attempt, crashes, abandon_reason AS abandonReason, is_last_run AS isLastRun, delivery`,
    ),
    shortenLeases: db.prepare(
      `UPDATE ${jobs} SET due_at = ? WHERE state = 'open' AND token IS NOT NULL AND due_at > ?`,
    ),
    /** What was added, released or retried by hand can be run at once. */
    makeDue: db.prepare(
      `UPDATE ${jobs} SET due_at = ? WHERE state = 'open' AND token IS NULL AND error IS NULL AND due_at > ?`,
    ),
    delayedAttempts: db.prepare(
      `SELECT DISTINCT attempt FROM ${jobs} WHERE state = 'open' AND token IS NULL AND due_at > ?`,
    ),
    shortenDelays: db.prepare(
      `UPDATE ${jobs} SET due_at = ? WHERE state = 'open' AND token IS NULL AND due_at > ? AND attempt = ?`,
    ),
    nextDue: db.prepare(
      `SELECT min(due_at) AS dueAt FROM ${jobs} WHERE state = 'open' AND ${notOneOf}`,
    ),
    /** A lease that ran out is still ours until another worker takes the job. */
    extend: db.prepare(`UPDATE ${jobs} SET due_at = ? WHERE ${held} RETURNING 1`),
    /** The body may hold personal data, so it is deleted at once. */
    complete: db.prepare(
      `UPDATE ${jobs} SET state = 'done', due_at = ?, token = NULL, error = NULL, failures = NULL, delivery = NULL WHERE ${held} RETURNING 1`,
    ),
    isCompleted: db.prepare(`SELECT 1 FROM ${jobs} WHERE id = ? AND token = ? AND state = 'done'`),
    retry: db.prepare(
      `UPDATE ${jobs} SET due_at = ?, error = ?, ${addFailure}, abandon_reason = ?, crashes = 0, token = NULL WHERE ${held} RETURNING 1`,
    ),
    release: db.prepare(
      `UPDATE ${jobs} SET due_at = ?, error = NULL, token = NULL WHERE ${held} RETURNING 1`,
    ),
    moveToDead: db.prepare(
      `UPDATE ${jobs} SET state = 'dead', due_at = ?, error = ?, ${addFailure}, token = NULL WHERE ${held} RETURNING 1`,
    ),
    sweep: db.prepare(
      `DELETE FROM ${jobs} WHERE id IN (
         SELECT id FROM ${jobs} WHERE state = 'done' AND due_at <= ? ORDER BY due_at LIMIT ?)`,
    ),
    stats: db.prepare(
      `SELECT
         count(*) FILTER (WHERE state = 'open' AND due_at <= ?) AS waiting,
         count(*) FILTER (WHERE state = 'open' AND due_at > ? AND token IS NULL) AS delayed,
         count(*) FILTER (WHERE state = 'open' AND due_at > ? AND token IS NOT NULL) AS running,
         count(*) FILTER (WHERE state = 'done') AS done,
         count(*) FILTER (WHERE state = 'dead') AS dead
       FROM ${jobs}`,
    ),
    deadLetters: db.prepare(
      `SELECT id, attempt, error, failures, due_at AS failedAt, delivery FROM ${jobs} WHERE state = 'dead' ORDER BY due_at, id LIMIT ?`,
    ),
    deadAfter: db.prepare(
      `SELECT id, attempt, error, failures, due_at AS failedAt, delivery FROM ${jobs}
       WHERE state = 'dead' AND due_at >= ? AND due_at < ? AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?`,
    ),
    dead: db.prepare(
      `SELECT id, attempt, error, failures, due_at AS failedAt, delivery FROM ${jobs} WHERE state = 'dead' AND id = ?`,
    ),
    retryDead: db.prepare(
      `UPDATE ${jobs} SET state = 'open', due_at = ?, crashes = 0, abandon_reason = NULL, error = NULL, is_last_run = 1
       WHERE id = ? AND state = 'dead' RETURNING 1`,
    ),
    discardDead: db.prepare(
      `UPDATE ${jobs} SET state = 'done', due_at = ?, failures = NULL, delivery = NULL WHERE id = ? AND state = 'dead' RETURNING 1`,
    ),
  };
}
