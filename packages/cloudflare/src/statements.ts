/**
 * The tables of an object. `done` is 1 for a handled event, and 2 for one that the dead letters have.
 * Times are milliseconds since the epoch.
 */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS ids (
  id TEXT PRIMARY KEY, token TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ids_keep_until ON ids (keep_until);
CREATE TABLE IF NOT EXISTS events (
  key TEXT PRIMARY KEY, token TEXT NOT NULL, attempt INTEGER NOT NULL, done INTEGER NOT NULL,
  lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS events_keep_until ON events (keep_until);
CREATE TABLE IF NOT EXISTS groups (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS groups_keep_until ON groups (keep_until);
CREATE TABLE IF NOT EXISTS bodies (
  id TEXT PRIMARY KEY, body TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS bodies_keep_until ON bodies (keep_until);
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;`;

/** How many rows of each table a sweep deletes at once, so that claims never wait for long. */
export const SWEEP_ROWS = 2_000;

const HELD = 'key = ? AND token = ? AND done = 0 AND lease_until > ?';

const sweep = (table: string, key: string) =>
  `DELETE FROM ${table} WHERE ${key} IN (
     SELECT ${key} FROM ${table} WHERE keep_until <= ? ORDER BY keep_until LIMIT ${SWEEP_ROWS}
   ) RETURNING 1`;

export const SQL = {
  id: 'SELECT token FROM ids WHERE id = ? AND keep_until > ?',
  putId: 'INSERT OR REPLACE INTO ids (id, token, keep_until) VALUES (?, ?, ?)',
  event:
    'SELECT token, attempt, done, lease_until AS leaseUntil FROM events WHERE key = ? AND keep_until > ?',
  putEvent:
    'INSERT OR REPLACE INTO events (key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, ?, 0, ?, ?)',
  /** The event of a group that was admitted last. The group is busy while it holds its lease. */
  lastOfGroup:
    'SELECT key, token, attempt, done, lease_until AS leaseUntil FROM groups JOIN events USING (key) WHERE id = ?',
  putGroup: 'INSERT OR REPLACE INTO groups (id, key, keep_until) VALUES (?, ?, ?)',
  /** The token that marked the event may do so again: the answer to the first call may have been lost. */
  complete:
    'UPDATE events SET done = ? WHERE key = ? AND token = ? AND (done = ? OR (done = 0 AND lease_until > ?)) RETURNING 1',
  release: `UPDATE events SET lease_until = 0 WHERE ${HELD} RETURNING 1`,
  extend: `UPDATE events SET lease_until = ? WHERE ${HELD} RETURNING 1`,
  shortenLease: 'UPDATE events SET lease_until = ? WHERE key = ?',
  reopen: 'DELETE FROM events WHERE key = ? AND done = 2 AND keep_until > ? RETURNING 1',
  cursor: 'SELECT cursor FROM cursors WHERE name = ?',
  putCursor: 'INSERT OR REPLACE INTO cursors (name, cursor) VALUES (?, ?)',
  removeCursor: 'DELETE FROM cursors WHERE name = ?',
  body: 'SELECT body FROM bodies WHERE id = ?',
  putBody: 'INSERT INTO bodies (id, body, keep_until) VALUES (?, ?, ?)',
  /** The row stays: a message that Cloudflare delivers again finds that its job is done. */
  emptyBody: "UPDATE bodies SET body = '' WHERE id = ?",
  sweeps: [
    sweep('ids', 'id'),
    sweep('events', 'key'),
    sweep('groups', 'id'),
    sweep('bodies', 'id'),
  ],
  isEmpty:
    'SELECT NOT EXISTS (SELECT 1 FROM ids) AND NOT EXISTS (SELECT 1 FROM events) AND NOT EXISTS (SELECT 1 FROM groups) AND NOT EXISTS (SELECT 1 FROM bodies) AS isEmpty',
} as const;
