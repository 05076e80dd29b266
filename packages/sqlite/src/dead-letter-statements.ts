import type { SqliteDatabase } from './database.ts';

/**
 * The table of dead letters. A letter with a token is claimed until `claimed_until`. Times are
 * milliseconds since the epoch.
 */
export const deadLetterSchema = (prefix: string) => `
CREATE TABLE IF NOT EXISTS ${prefix}dead_letters (
  id TEXT PRIMARY KEY, failed_at INTEGER NOT NULL, reason TEXT NOT NULL, event_name TEXT NOT NULL,
  tenant TEXT NOT NULL, letter TEXT NOT NULL, failures TEXT NOT NULL, token TEXT, claimed_until INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS ${prefix}dead_letters_failed_at ON ${prefix}dead_letters (failed_at, id);`;

/** Each statement runs within a transaction that has the write lock. */
export function deadLetterStatements(db: SqliteDatabase, prefix: string) {
  const letters = `${prefix}dead_letters`;
  const held = 'id = ? AND token = ? AND claimed_until > ?';
  const columns = 'id, letter, failures, token, claimed_until AS claimedUntil';
  // The event name, the reason and the tenant are each given twice.
  const matches = `failed_at >= ? AND failed_at < ? AND (? IS NULL OR event_name = ?) AND (? IS NULL OR reason = ?) AND (? IS NULL OR tenant = ?)`;
  return {
    get: db.prepare(`SELECT ${columns} FROM ${letters} WHERE id = ?`),
    put: db.prepare(
      `INSERT OR REPLACE INTO ${letters} (id, failed_at, reason, event_name, tenant, letter, failures) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    list: db.prepare(
      `SELECT ${columns} FROM ${letters} WHERE ${matches} AND (failed_at, id) > (?, ?) ORDER BY failed_at, id LIMIT ?`,
    ),
    count: db.prepare(`SELECT count(*) AS count FROM ${letters} WHERE ${matches}`),
    remove: db.prepare(`DELETE FROM ${letters} WHERE id = ? RETURNING 1`),
    claim: db.prepare(`UPDATE ${letters} SET token = ?, claimed_until = ? WHERE id = ?`),
    held: db.prepare(`SELECT ${columns} FROM ${letters} WHERE ${held}`),
    extend: db.prepare(`UPDATE ${letters} SET claimed_until = ? WHERE ${held} RETURNING 1`),
    settle: db.prepare(`DELETE FROM ${letters} WHERE ${held} RETURNING 1`),
    release: db.prepare(`UPDATE ${letters} SET token = NULL WHERE ${held} RETURNING 1`),
    fail: db.prepare(
      `UPDATE ${letters} SET token = NULL, failed_at = ?, failures = ? WHERE id = ?`,
    ),
  };
}
