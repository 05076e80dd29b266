import { literal, type Completion } from './complete-in.ts';
import type { SqliteDatabase } from './database.ts';
import { NameIndex, namesAt, namesSchema, slotsOf, type NamedTable } from './name-index.ts';

const idTable = (prefix: string): NamedTable => ({
  rows: `${prefix}ids`,
  names: `${prefix}id_names`,
});
const eventTable = (prefix: string): NamedTable => ({
  rows: `${prefix}events`,
  names: `${prefix}event_names`,
});

/**
 * The tables of a store. `done` is 1 for a handled event, and 2 for one that the dead letters have.
 * Times are milliseconds since the epoch, by the wall clock.
 *
 * Rows lie in the order in which they came, and are found by a hash of their name. A large table that
 * lay in the order of its names would be written in another place for each row (decisions 16 and 17).
 * `number` is the rowid: VACUUM may change rowids that have no column.
 */
export const storeSchema = (prefix: string) => `
CREATE TABLE IF NOT EXISTS ${prefix}ids (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL, token TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}ids_keep_until ON ${prefix}ids (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}events (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL, token TEXT NOT NULL, attempt INTEGER NOT NULL,
  done INTEGER NOT NULL, lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ${prefix}events_keep_until ON ${prefix}events (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}groups (
  id TEXT PRIMARY KEY, row INTEGER NOT NULL, key TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${prefix}groups_keep_until ON ${prefix}groups (keep_until);
CREATE TABLE IF NOT EXISTS ${prefix}cursors (name TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;
${[idTable(prefix), eventTable(prefix)].map(namesSchema).join('')}`;

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
  where: `rowid IN (SELECT row FROM ${namesAt(eventTable(prefix), slotsOf(hash))})
    AND key = ${literal(text)} AND token = ${literal(token)}
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
  const idRows = `${namesAt(idTable(prefix))} CROSS JOIN ${ids} AS ids ON ids.rowid = names.row`;
  const eventRows = `${namesAt(eventTable(prefix))} CROSS JOIN ${events} AS events ON events.rowid = names.row`;
  const held = 'rowid = ? AND key = ? AND token = ? AND done = 0 AND lease_until > ?';
  const state = 'events.rowid AS row, token, attempt, done, lease_until AS leaseUntil';
  const sweep = (table: string, row = 'rowid') =>
    `DELETE FROM ${table} WHERE ${row} IN (
       SELECT ${row} FROM ${table} WHERE keep_until <= ? ORDER BY keep_until LIMIT ?)`;
  return {
    idNames: new NameIndex(db, idTable(prefix)),
    eventNames: new NameIndex(db, eventTable(prefix)),
    id: db.prepare(`SELECT token FROM ${idRows} WHERE id = ? AND keep_until > ?`),
    addId: db.prepare(`INSERT INTO ${ids} (id, token, keep_until) VALUES (?, ?, ?)`),
    event: db.prepare(`SELECT ${state} FROM ${eventRows} WHERE key = ? AND keep_until > ?`),
    /** Finds the row of a leased event by its name, if this process does not remember it. */
    leasedRow: db.prepare(`SELECT row FROM ${eventRows} WHERE key = ? AND token = ?`),
    addEvent: db.prepare(
      `INSERT INTO ${events} (key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, 1, 0, ?, ?)`,
    ),
    claimAgain: db.prepare(
      `UPDATE ${events} SET token = ?, attempt = ?, lease_until = ?, keep_until = ? WHERE rowid = ?`,
    ),
    /** The event of a group that was admitted last. The group is busy while it holds its lease. */
    lastOfGroup: db.prepare(
      `SELECT ${state}, events.key FROM ${groups} AS groups JOIN ${events} AS events ON events.rowid = groups.row AND events.key = groups.key WHERE id = ? AND events.keep_until > ?`,
    ),
    putGroup: db.prepare(
      `INSERT OR REPLACE INTO ${groups} (id, row, key, keep_until) VALUES (?, ?, ?, ?)`,
    ),
    complete: db.prepare(`UPDATE ${events} SET done = 1 WHERE ${held}`),
    deadLetter: db.prepare(`UPDATE ${events} SET done = 2 WHERE ${held}`),
    release: db.prepare(`UPDATE ${events} SET lease_until = 0 WHERE ${held}`),
    extend: db.prepare(`UPDATE ${events} SET lease_until = ? WHERE ${held}`),
    reopen: db.prepare(
      `DELETE FROM ${events} WHERE rowid IN (SELECT row FROM ${namesAt(eventTable(prefix))}) AND key = ? AND done = 2 AND keep_until > ?`,
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
