/**
 * What we call of a SQLite handle: `new Database(file)` of better-sqlite3 or libsql, and
 * `new DatabaseSync(file)` of node:sqlite. All three are synchronous.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  all(...values: (string | number | null)[]): unknown[];
  run(...values: (string | number | null)[]): unknown;
}

const BUSY = 5;

/** Whether another connection holds the lock; the three clients say so in two ways. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === BUSY;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}
