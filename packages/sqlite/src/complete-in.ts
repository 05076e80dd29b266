import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import type { SqliteDatabase } from './database.ts';
import { DRIVERS, type AnyClient } from './transaction-drivers.ts';

/**
 * A transaction that `completeIn` takes: a handle of better-sqlite3, libsql or node:sqlite that is in
 * one, or a transaction of Drizzle, Kysely or `@libsql/client`.
 */
export type SqliteTransaction =
  | SqliteDatabase
  | { values(text: string): unknown }
  | { executeQuery(query: never): PromiseLike<unknown>; isTransaction: boolean }
  | { execute(text: string): PromiseLike<unknown> };

/** What an UPDATE marks as done, and which rows may be. */
export interface Completion {
  /** `UPDATE … SET …` */
  readonly update: string;
  /** A condition that holds for the row of who holds the lease, and of who completed it before. */
  readonly where: string;
}

/**
 * Tells one copy of SQLite from another. Two copies in one process, such as those of better-sqlite3 and
 * libsql, undo each other's locks on a file.
 */
const COPY = `sqlite_source_id() || (SELECT group_concat(compile_options) FROM pragma_compile_options)`;

/**
 * Runs an UPDATE in a transaction of the user. It has no parameters, since no two clients agree on
 * placeholders.
 * @param db the handle of the store or queue
 * @returns `false` if no row was updated. A synchronous client answers, and throws, at once
 * @throws WebhookError `invalid-options` for what is no transaction, or is one on another database
 */
export function completeIn(
  db: SqliteDatabase,
  tx: unknown,
  { update, where }: Completion,
): boolean | Promise<boolean> {
  const client = Object(tx) as AnyClient;
  const driver = DRIVERS.find((one) => one.is(client));
  if (!driver) throw noTransaction('expected a transaction of a SQLite client');
  const mistake = driver.mistake(client);
  if (mistake !== undefined) throw noTransaction(mistake);

  const copy = copyOf(db);
  // Asked once for each client, because it takes longer than everything else here.
  const sameCopy = copies.get(client) === copy ? '1' : `hex(${COPY}) = '${copy}'`;
  const answers = (text: string) => ofTheStore(() => mapped(driver.run(client, text), hasRows));
  return mapped(answers(`${update} WHERE (${where}) AND ${sameCopy} RETURNING 1`), (updated) => {
    if (updated) copies.set(client, copy);
    if (updated) return true;
    return mapped(answers(`SELECT 1 WHERE ${sameCopy}`), (isSame) => {
      if (isSame) return false;
      throw noTransaction(
        'this client and that of the store have a copy of SQLite each, which undo the locks of each other. Use one client library for both',
      );
    });
  });
}

/** By the handle of a store, and by a client that has proved to have the same one. */
const copies = new WeakMap<SqliteDatabase, string>();

function copyOf(db: SqliteDatabase): string {
  let copy = copies.get(db);
  if (copy === undefined) {
    const [row] = db.prepare(`SELECT hex(${COPY}) AS copy`).all() as { copy: string }[];
    copies.set(db, (copy = row?.copy ?? ''));
  }
  return copy;
}

/** @throws WebhookError `invalid-options` if the tables of the store or queue are missing */
function ofTheStore(run: () => boolean | Promise<boolean>): boolean | Promise<boolean> {
  const explain = (error: unknown): never => {
    if (!isMissingTable(error)) throw error;
    throw noTransaction(
      'this connection is to another database than that of the store or queue, whose tables are not in it. Pass a transaction on their database',
      error,
    );
  };
  try {
    const answer = run();
    return typeof answer === 'boolean' ? answer : answer.catch(explain);
  } catch (error) {
    return explain(error);
  }
}

/** Drizzle and Kysely wrap the error of the driver. */
function isMissingTable(error: unknown, depth = 0): boolean {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  if (String(message).includes('no such table')) return true;
  return cause !== undefined && depth < 5 && isMissingTable(cause, depth + 1);
}

const noTransaction = (mistake: string, cause?: unknown) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`, {
    ...(cause !== undefined && { cause }),
    docs: docsUrl('exactly-once.md#your-own-database'),
  });

/** At once, if the value is there. */
function mapped<Value, Result>(
  value: Value | PromiseLike<Value>,
  map: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  const isPending = typeof (value as { then?: unknown } | undefined)?.then === 'function';
  return isPending ? Promise.resolve(value).then(map) : map(value as Value);
}

/** Whether there are rows. Clients reply with them, or with an object that has them. */
function hasRows(result: unknown): boolean {
  const rows: unknown = Array.isArray(result)
    ? result
    : (Object(result) as { rows?: unknown }).rows;
  if (Array.isArray(rows)) return rows.length > 0;
  throw new Error('completeIn: the client of the transaction gave no rows.');
}

/** A text in a statement. Nothing in it can end the literal. */
export const literal = (text: string): string =>
  `CAST(x'${Buffer.from(text).toString('hex')}' AS TEXT)`;
