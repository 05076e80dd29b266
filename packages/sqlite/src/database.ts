import { createHash } from 'node:crypto';
import { WebhookError } from '@call-webhooks/core';
import { storableKeySync } from '@call-webhooks/core/stores';

/**
 * The part of a SQLite handle that is used: `new Database(file)` of better-sqlite3, libsql or
 * bun:sqlite, or `new DatabaseSync(file)` of node:sqlite. All methods are synchronous.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** A prepared statement. */
export interface SqliteStatement {
  // `any`: clients type their parameters in ways that TypeScript 5 finds incompatible with any others.
  /* eslint-disable @typescript-eslint/no-explicit-any */
  all(...values: any[]): unknown[];
  run(...values: any[]): { changes: number | bigint };
  /* eslint-enable @typescript-eslint/no-explicit-any */
}

/** A row of a result. What is expected in it is read with `integer` and `text`. */
export type Row = Readonly<Record<string, unknown>>;

// A client can be told to return arrays, other names or other types. What is not understood is an error:
// taken for "no such row", it would admit an event once more.

/** @throws if the column is missing, or is no integer. A client may be set to use `bigint` */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  throw unreadable(column);
}

/** @throws if the column is missing, or is no text */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw unreadable(column);
}

/** `undefined` for NULL. @throws if the column is missing, or is no text */
export const textOrNull = (row: Row, column: string): string | undefined =>
  column in row && (row[column] ?? null) === null ? undefined : text(row, column);

const unreadable = (column: string) =>
  new Error(
    `The SQLite client did not return the column ${column} as expected. Turn off client options that change rows.`,
  );

/** The statements of a handle. Each is prepared once. */
export class Statements {
  readonly #db: SqliteDatabase;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  rows(sql: string, ...values: unknown[]): Row[] {
    const rows: unknown = this.#prepare(sql).all(...values);
    if (Array.isArray(rows)) return rows as Row[];
    throw unreadable('rows');
  }

  first(sql: string, ...values: unknown[]): Row | undefined {
    const [row] = this.rows(sql, ...values).map((found) => Object(found) as Row);
    return row;
  }

  /** @returns whether it changed any rows */
  change(sql: string, ...values: unknown[]): boolean {
    const result: unknown = this.#prepare(sql).run(...values);
    return integer(Object(result) as Row, 'changes') > 0;
  }

  #prepare(sql: string): SqliteStatement {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

/** The text under which a key is stored. */
export const storedKey = (key: string): string =>
  storableKeySync(key, (long) =>
    createHash('sha256').update(Buffer.from(long, 'utf16le')).digest('hex'),
  );

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
    rows = (db as SqliteDatabase).prepare(PROBE).all();
  } catch (error) {
    return isBusy(error) ? undefined : `it failed: ${String(error)}`;
  }
  if (Array.isArray(rows)) return mistakeOfRow(rows[0]);
  void Promise.resolve(rows).catch(() => undefined);
  return 'it is asynchronous, or uses callbacks';
}

const PROBE = `SELECT 1 AS "anInteger", 'a text' AS "aText", NULL AS "aNull"`;

function mistakeOfRow(row: unknown): string | undefined {
  const found = Object(row) as Row;
  try {
    const isAsAsked = integer(found, 'anInteger') === 1 && text(found, 'aText') === 'a text';
    if (isAsAsked && textOrNull(found, 'aNull') === undefined) return undefined;
  } catch {
    // the same mistake
  }
  return 'its rows are not objects with the columns of the statement. Turn off options such as returnArrays, raw(), pluck() and expand()';
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (code !== undefined) return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
  return /database (?:table |schema )?is locked/i.test(message);
}

/** SQLite has no code of its own for it. */
export function isMissingTable(error: unknown): boolean {
  const { code = 'SQLITE_ERROR', message } = failureOf(error);
  return code === 'SQLITE_ERROR' && message.includes('no such table');
}

/** Whether the file, or one beside it, may not be written or made. */
export function isUnwritable(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (code !== undefined) return code === 'SQLITE_READONLY' || code === 'SQLITE_CANTOPEN';
  return /readonly database|unable to open database file/i.test(message);
}

/** Whether there is no file, and none can be made: its folder is missing, or may not be written. */
export function isUnopenable(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (code !== undefined) return code === 'SQLITE_CANTOPEN';
  return /unable to open database file/i.test(message);
}

/** Whether the content of a statement is refused, and would be again. */
export function isRefused(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (code !== undefined)
    return ['SQLITE_TOOBIG', 'SQLITE_CONSTRAINT', 'SQLITE_MISMATCH'].includes(code);
  return /constraint failed|string or blob too big|datatype mismatch/i.test(message);
}

/** Whether a BEGIN failed because the connection is in a transaction. */
export function isNestedBegin(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return (
    code === 'SQLITE_ERROR' || (code === undefined && message.includes('within a transaction'))
  );
}

type Failure = Partial<Record<'code' | 'errcode' | 'message' | 'cause', unknown>>;

/** Wrappers may go round in a circle. */
const MAX_CAUSES = 5;
const CODES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  14: 'SQLITE_CANTOPEN',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
};

/**
 * What SQLite said. Drizzle and others wrap the error of the client, and Deno's has no code.
 * @returns the first code that is found, without what extends it, and all messages
 */
function failureOf(error: unknown): { code: string | undefined; message: string } {
  let message = '';
  let wrapped = Object(error) as Failure;
  for (let depth = 0; depth <= MAX_CAUSES; depth++) {
    const code = codeOf(wrapped);
    message += `${String(wrapped.message)}\n`;
    if (code !== undefined) return { code, message };
    if (wrapped.cause === undefined) break;
    wrapped = Object(wrapped.cause) as Failure;
  }
  return { code: undefined, message };
}

/** node:sqlite has a number, the others a name. Both may be extended: `SQLITE_BUSY_SNAPSHOT` is 5 + 2 * 256. */
function codeOf({ code, errcode }: Failure): string | undefined {
  if (typeof errcode === 'number') return CODES[errcode & 0xff] ?? 'another';
  return typeof code === 'string' ? /^SQLITE_[A-Z]+/.exec(code)?.[0] : undefined;
}
