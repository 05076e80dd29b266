import { checkOptions, docsUrl, option } from '@call-webhooks/core/stores';
import { integer, Statements, text, type SqliteDatabase } from './database.ts';

/** The options that a store and a queue in a SQLite file have in common. */
export interface SqliteOptions {
  /**
   * The beginning of the names of the tables; `call_webhooks_` by default. Lower-case letters, digits
   * and `_` are allowed.
   */
  prefix?: string | undefined;
  /**
   * How long a handled event is recognized as a duplicate, in milliseconds: 600,000 (10 minutes) to 10
   * years, by default 86,400,000 (24 hours).
   */
  rememberFor?: number | undefined;
  /**
   * The clock, in milliseconds since the epoch; `Date.now` by default. All processes that share the
   * file need the same clock.
   */
  now?: (() => number) | undefined;
}

/** It goes into the statements as it is. */
export const prefixRule = () =>
  option.default(
    option.text(/^[a-z_][a-z0-9_]{0,62}$/, 'expected up to 63 lower-case letters, digits and _'),
    'call_webhooks_',
  );

export const sqliteOptionRules = () => ({
  prefix: prefixRule(),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
});

/**
 * Makes version 1, of which all times are milliseconds since the epoch, by the wall clock.
 *
 * - `schema` has one row. Its `id` tells this database from another one with the same tables.
 * - `events.done` is 1 for a handled event, and 2 for one that the dead letters have.
 * - `groups.key` is the event of a group that was admitted last.
 * - `dead_letters`: one with a token is claimed until `claimed_until`.
 * - `jobs.due_at` is when something happens to a job next: an `open` one without a token may be run, one with a
 *   token loses its lease, a `done` one is forgotten. A `dead` job stays. An `open` job has an `error` once it
 *   failed: without a token, it waits for its next attempt. `failures` has the first failed attempt and the last 49, as JSON.
 *   `crashes` counts the last runs in a row that ended with their process, or without reporting a result. With
 *   `abandon_reason` no handler is run any more. `is_last_run` is 1 for a job that was retried by hand.
 * - The outcome log: `log_rows` has the rows of one kind of one batch: `n` is the number of the batch, `rows` is
 *   JSON, and `earlier` is how many rows of that kind came before. `log_counts.at` is a period of the epoch.
 *   `log_processes.process` is JSON.
 */
const createTables = (prefix: string) => `
CREATE TABLE IF NOT EXISTS ${prefix}schema (version INTEGER NOT NULL, id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ${prefix}ids (
  id TEXT PRIMARY KEY, token TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}ids_keep_until ON ${prefix}ids (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}events (
  key TEXT PRIMARY KEY, token TEXT NOT NULL, attempt INTEGER NOT NULL, done INTEGER NOT NULL,
  lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}events_keep_until ON ${prefix}events (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}groups (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}groups_keep_until ON ${prefix}groups (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}cursors (name TEXT PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ${prefix}dead_letters (
  id TEXT PRIMARY KEY, failed_at INTEGER NOT NULL, reason TEXT NOT NULL, event_name TEXT NOT NULL,
  tenant TEXT NOT NULL, letter TEXT NOT NULL, body TEXT NOT NULL, failures TEXT NOT NULL, token TEXT,
  claimed_until INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS ${prefix}dead_letters_failed_at ON ${prefix}dead_letters (failed_at, id);
CREATE TABLE IF NOT EXISTS ${prefix}jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT 'open',
  due_at INTEGER NOT NULL, token TEXT, attempt INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
  abandon_reason TEXT, is_last_run INTEGER NOT NULL DEFAULT 0, error TEXT, failures TEXT, delivery TEXT
);
CREATE INDEX IF NOT EXISTS ${prefix}jobs_due ON ${prefix}jobs (state, due_at);
CREATE TABLE IF NOT EXISTS ${prefix}log_batches (id TEXT PRIMARY KEY, taken_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${prefix}log_batches_taken_at ON ${prefix}log_batches (taken_at);
CREATE TABLE IF NOT EXISTS ${prefix}log_rows (
  n INTEGER NOT NULL, failures INTEGER NOT NULL, earlier INTEGER NOT NULL, count INTEGER NOT NULL,
  taken_at INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, ahead INTEGER NOT NULL,
  rows TEXT NOT NULL, PRIMARY KEY (n, failures)
);
CREATE INDEX IF NOT EXISTS ${prefix}log_rows_earlier ON ${prefix}log_rows (failures, earlier);
CREATE TABLE IF NOT EXISTS ${prefix}log_counts (
  series TEXT NOT NULL, at INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (series, at, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ${prefix}log_marks (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${prefix}log_marks_at ON ${prefix}log_marks (at);
CREATE TABLE IF NOT EXISTS ${prefix}log_processes (
  id TEXT PRIMARY KEY, process TEXT NOT NULL, seen_at INTEGER NOT NULL
);
INSERT INTO ${prefix}schema (version, id)
  SELECT 1, lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM ${prefix}schema);`;

/** Step n makes version n of version n - 1, and sets it. A step that was released never changes. */
const STEPS: readonly ((prefix: string) => string)[] = [createTables];

/** The version of the tables that this process uses. */
export const SCHEMA_VERSION = STEPS.length;

/**
 * Returns the SQL statements that create the tables, for migrations that you keep in files. Run them in
 * a transaction. Tables that exist already are not changed.
 * @param options.prefix `call_webhooks_` by default
 * @throws WebhookError `invalid-options`
 * @example
 * writeFileSync('migrations/001-call-webhooks.sql', migrationSql());
 */
export function migrationSql(options: Pick<SqliteOptions, 'prefix'> = {}): string {
  const { prefix } = checkOptions('migrationSql', { prefix: prefixRule() }, options);
  return STEPS.map((step) => step(prefix)).join('\n');
}

/** The tables of a database, as they are now. */
export interface Schema {
  /** Of whoever made them last; 0 if there are none. */
  readonly version: number;
  /** Tells databases apart. */
  readonly id: string;
}

/**
 * Brings the tables to the version of this process, in a transaction of the caller.
 * @returns what they were before
 * @throws if a newer version made them
 */
export function upgrade(db: SqliteDatabase, prefix: string, steps = STEPS): Schema {
  const sql = new Statements(db);
  const table = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`;
  const before = sql.first(table, `${prefix}schema`)
    ? readSchema(sql, prefix, steps.length)
    : { version: 0, id: '' };
  // A table that somebody dropped is made again.
  if (before.version === 1) db.exec(createTables(prefix));
  for (const step of steps.slice(before.version)) db.exec(step(prefix));
  return before;
}

/** @throws if a newer version made the tables */
export function readSchema(sql: Statements, prefix: string, known = SCHEMA_VERSION): Schema {
  const row = sql.first(`SELECT version, id FROM ${prefix}schema`) ?? {};
  const version = integer(row, 'version');
  if (version <= known) return { version, id: text(row, 'id') };
  throw new Error(
    `The tables ${prefix}* were created by a newer release of @call-webhooks/sqlite: they have version ${String(version)}, and this process knows version ${String(known)}. Update this process. See ${docsUrl('stores.md#sqlite')}`,
  );
}
