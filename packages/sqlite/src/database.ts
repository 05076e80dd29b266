import { WebhookError } from '@call-webhooks/core';

/**
 * The methods that are used of a SQLite handle: `new Database(file)` of better-sqlite3 or libsql, or
 * `new DatabaseSync(file)` of node:sqlite. All three are synchronous.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** A client may be set to use `bigint` for integers. */
export type RowId = number | bigint;

/** A prepared statement. */
export interface SqliteStatement {
  // `any`: clients type their parameters in ways that TypeScript 5 finds incompatible with any others.
  /* eslint-disable @typescript-eslint/no-explicit-any */
  all(...values: any[]): unknown[];
  /** The first row. Without one, it is `undefined`, or `null` in Bun. */
  get(...values: any[]): unknown;
  run(...values: any[]): { changes: number | bigint; lastInsertRowid: RowId };
  /* eslint-enable @typescript-eslint/no-explicit-any */
}

const BUSY = 5;

/** Whether another connection holds the lock. Clients say so by a code, a number or the message. */
export function isBusy(error: unknown): boolean {
  const { code, errcode, message } = error as Record<string, unknown>;
  if (typeof errcode === 'number') return (errcode & 0xff) === BUSY;
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return code.startsWith('SQLITE_BUSY');
  return typeof message === 'string' && /database (?:table |schema )?is locked/i.test(message);
}

/**
 * Runs a statement that touches no table, to tell a handle from what only looks like one: an
 * asynchronous client would report each failure too late.
 * @throws WebhookError `invalid-options`
 */
export function checkDatabase(creator: string, db: SqliteDatabase): void {
  const mistake = mistakeOf(db);
  if (mistake === undefined) return;
  throw new WebhookError(
    'invalid-options',
    `Invalid database of ${creator}: ${mistake}. Pass a handle of better-sqlite3, libsql, node:sqlite or bun:sqlite.`,
  );
}

function mistakeOf(db: Partial<SqliteDatabase> | null | undefined): string | undefined {
  if (typeof Reflect.get(Object(db) as object, 'databaseSize') === 'number')
    return 'the SQL storage of Durable Objects is not supported. Use durableObjectStore of @call-webhooks/cloudflare';
  for (const method of ['exec', 'prepare'] as const)
    if (typeof db?.[method] !== 'function') return `it has no ${method}()`;
  if (typeof Reflect.get(db as object, 'batch') === 'function')
    return 'Cloudflare D1 is asynchronous. On Workers, use durableObjectStore of @call-webhooks/cloudflare';
  let rows: unknown;
  try {
    rows = (db as SqliteDatabase).prepare('SELECT 1 AS one').all();
  } catch (error) {
    return isBusy(error) ? undefined : `it failed: ${String(error)}`;
  }
  if (Array.isArray(rows)) return undefined;
  void Promise.resolve(rows).catch(() => undefined);
  return 'it is asynchronous, or has callbacks';
}
