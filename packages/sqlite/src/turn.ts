import { text, type Statements } from './database.ts';

/** What one process does at a time. */
export interface Turn {
  readonly name: string;
  /** Of the process. */
  readonly token: string;
  /** Milliseconds that it lasts unless it is taken again. */
  readonly leaseMs: number;
  /** Now; milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Takes a turn, or keeps it, in a transaction of the caller. It is kept among the cursors, as `token until`.
 * @returns `false` while it is the turn of another process
 */
export function takeTurn(
  sql: Statements,
  prefix: string,
  { name, token, leaseMs, at }: Turn,
): boolean {
  const row = sql.first(`SELECT cursor FROM ${prefix}cursors WHERE name = ?`, name);
  const [holder, until] = row ? text(row, 'cursor').split(' ') : [];
  // A turn that ends later than any lasts was taken before the clock was set back.
  const isTaken = Number(until) > at && Number(until) <= at + leaseMs;
  if (holder !== undefined && holder !== token && isTaken) return false;
  const put = `INSERT OR REPLACE INTO ${prefix}cursors (name, cursor) VALUES (?, ?)`;
  sql.change(put, name, `${token} ${String(Math.ceil(at + leaseMs))}`);
  return true;
}
