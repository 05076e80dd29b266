import { literal, type Completion } from './complete-in.ts';
import type { SqliteDatabase } from './database.ts';

/**
 * The tables of a store. `done` is 1 for a handled event, and 2 for one that the dead letters have.
 * Times are milliseconds since the epoch, by the wall clock.
 *
 * Rows lie in the order in which they came, and are found by a hash of their name. A large table that
 * lay in the order of its names would be written in another place for each row (decision 16).
 */
export const storeSchema = (prefix: string) => `
CREATE TABLE IF NOT EXISTS ${prefix}ids (
  hash INTEGER NOT NULL, id TEXT NOT NULL, token TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}ids_hash ON ${prefix}ids (hash);
CREATE INDEX IF NOT EXISTS ${prefix}ids_keep_until ON ${prefix}ids (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}events (
  hash INTEGER NOT NULL, key TEXT NOT NULL, token TEXT NOT NULL, attempt INTEGER NOT NULL,
  done INTEGER NOT NULL, lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}events_hash ON ${prefix}events (hash);
CREATE INDEX IF NOT EXISTS ${prefix}events_keep_until ON ${prefix}events (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}groups (
  id TEXT PRIMARY KEY, hash INTEGER NOT NULL, key TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${prefix}groups_keep_until ON ${prefix}groups (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}cursors (name TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;`;

/** A webhook id or an event key as it is stored. Two of them may have the same hash. */
export interface StoredName {
  readonly hash: number;
  readonly text: string;
}

/**
 * Completes an event in a transaction of the user. A token that has completed the
 * event may do it again.
 * @param since when leases must have run out to be lost
 */
export const completionOf = (
  prefix: string,
  { hash, text }: StoredName,
  token: string,
  since: number,
): Completion => ({
  update: `UPDATE ${prefix}events SET done = 1`,
  where: `hash = ${String(hash)} AND key = ${literal(text)} AND token = ${literal(token)}
    AND (done = 1 OR (done = 0 AND lease_until > ${String(since)}))`,
});

/**
 * The statements of a store. Each runs within a transaction that has the write lock. Parameters have
 * no numbers, since better-sqlite3 takes `?1` for a name.
 */
export function storeStatements(db: SqliteDatabase, prefix: string) {
  const ids = `${prefix}ids`;
  const events = `${prefix}events`;
  const groups = `${prefix}groups`;
  const cursors = `${prefix}cursors`;
  const named = 'hash = ? AND key = ?';
  const held = `${named} AND token = ? AND done = 0 AND lease_until > ?`;
  const sweep = (table: string, row = 'rowid') =>
    `DELETE FROM ${table} WHERE ${row} IN (
       SELECT ${row} FROM ${table} WHERE keep_until <= ? ORDER BY keep_until LIMIT ?)`;
  return {
    id: db.prepare(`SELECT token FROM ${ids} WHERE hash = ? AND id = ? AND keep_until > ?`),
    addId: db.prepare(`INSERT INTO ${ids} (hash, id, token, keep_until) VALUES (?, ?, ?, ?)`),
    event: db.prepare(
      `SELECT rowid AS row, token, attempt, done, lease_until AS leaseUntil FROM ${events} WHERE ${named} AND keep_until > ?`,
    ),
    addEvent: db.prepare(
      `INSERT INTO ${events} (hash, key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, ?, 1, 0, ?, ?)`,
    ),
    claimAgain: db.prepare(
      `UPDATE ${events} SET token = ?, attempt = ?, lease_until = ?, keep_until = ? WHERE rowid = ?`,
    ),
    /** The event of a group that was admitted last. The group is busy while it holds its lease. */
    lastOfGroup: db.prepare(
      `SELECT ${events}.rowid AS row, hash, key, token, attempt, done, lease_until AS leaseUntil FROM ${groups} JOIN ${events} USING (hash, key) WHERE id = ? AND ${events}.keep_until > ?`,
    ),
    putGroup: db.prepare(
      `INSERT OR REPLACE INTO ${groups} (id, hash, key, keep_until) VALUES (?, ?, ?, ?)`,
    ),
    complete: db.prepare(`UPDATE ${events} SET done = 1 WHERE ${held} RETURNING 1`),
    deadLetter: db.prepare(`UPDATE ${events} SET done = 2 WHERE ${held} RETURNING 1`),
    release: db.prepare(`UPDATE ${events} SET lease_until = 0 WHERE ${held} RETURNING 1`),
    extend: db.prepare(`UPDATE ${events} SET lease_until = ? WHERE ${held} RETURNING 1`),
    reopen: db.prepare(
      `DELETE FROM ${events} WHERE ${named} AND done = 2 AND keep_until > ? RETURNING 1`,
    ),
    cursor: db.prepare(`SELECT cursor FROM ${cursors} WHERE name = ?`),
    putCursor: db.prepare(`INSERT OR REPLACE INTO ${cursors} (name, cursor) VALUES (?, ?)`),
    removeCursor: db.prepare(`DELETE FROM ${cursors} WHERE name = ?`),
    shortenLease: db.prepare(`UPDATE ${events} SET lease_until = ? WHERE rowid = ?`),
    sweepIds: db.prepare(sweep(ids)),
    sweepEvents: db.prepare(sweep(events)),
    sweepGroups: db.prepare(sweep(groups, 'id')),
  };
}
