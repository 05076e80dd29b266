import { WebhookError } from '@call-webhooks/core';
import {
  isMissingTable,
  isNestedBegin,
  Statements,
  text,
  type SqliteDatabase,
} from './database.ts';
import { readSchema } from './schema.ts';

/**
 * A transaction that `completeIn` accepts: a handle of better-sqlite3, libsql or node:sqlite that is in
 * a transaction, or a transaction of Drizzle, Kysely or `@libsql/client`.
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

const OTHER_DATABASE =
  'this connection is to a database that does not contain the store or queue. Pass a transaction in their database';
const OTHER_COPY =
  'this client and the client of the store each have their own copy of SQLite, and the copies undo the locks of each other. Use one client library for both';

/**
 * Runs an UPDATE in a transaction of the user. It has no parameters, since no two clients agree on
 * placeholders.
 * @param db the handle of the store or queue
 * @returns `false` if no row was updated. A synchronous client answers, and throws, at once
 * @throws WebhookError `invalid-options` for what is no transaction, or is one on another database
 */
export function completeIn(
  db: SqliteDatabase,
  prefix: string,
  tx: unknown,
  { update, where }: Completion,
): boolean | Promise<boolean> {
  const client = Object(tx) as AnyClient;
  const driver = DRIVERS.find((one) => one.is(client));
  if (!driver) throw noTransaction('expected a transaction of a SQLite client');
  const mistake = driver.mistake(client);
  if (mistake !== undefined) throw noTransaction(mistake);

  const hasRow = (sql: string) => inTheDatabase(() => mapped(driver.run(client, sql), hasRows));
  const sameDatabase = `SELECT 1 FROM ${prefix}schema WHERE id = '${readSchema(new Statements(db), prefix).id}'`;
  const copy = copyOf(db);
  // Asked once for each client, because it takes longer than everything else here.
  const sameCopy = copies.get(client) === copy ? '1' : `hex(${COPY}) = '${copy}'`;
  const isOurs = `(${where}) AND EXISTS (${sameDatabase}) AND ${sameCopy}`;
  return mapped(hasRow(`${update} WHERE ${isOurs} RETURNING 1`), (isUpdated) => {
    if (isUpdated) copies.set(client, copy);
    if (isUpdated) return true;
    return mapped(hasRow(sameDatabase), (isSameDatabase) => {
      if (!isSameDatabase) throw noTransaction(OTHER_DATABASE);
      return mapped(hasRow(`SELECT 1 WHERE ${sameCopy}`), (isSameCopy) => {
        if (!isSameCopy) throw noTransaction(OTHER_COPY);
        return false; // the lease was lost
      });
    });
  });
}

/** By the handle of a store, and by a client that has proved to have the same one. */
const copies = new WeakMap<SqliteDatabase, string>();

function copyOf(db: SqliteDatabase): string {
  let copy = copies.get(db);
  if (copy === undefined) {
    const row = new Statements(db).first(`SELECT hex(${COPY}) AS copy`);
    copies.set(db, (copy = text(row ?? {}, 'copy')));
  }
  return copy;
}

/** @throws WebhookError `invalid-options` if the tables of the store or queue are missing */
function inTheDatabase(run: () => boolean | Promise<boolean>): boolean | Promise<boolean> {
  const explain = (error: unknown): never => {
    throw isMissingTable(error) ? noTransaction(OTHER_DATABASE, error) : error;
  };
  try {
    const answer = run();
    return typeof answer === 'boolean' ? answer : answer.catch(explain);
  } catch (error) {
    return explain(error);
  }
}

const noTransaction = (mistake: string, cause?: unknown) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`, {
    ...(cause !== undefined && { cause }),
    docs: 'exactly-once.md#your-own-database',
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
  throw new Error('completeIn: the client of the transaction returned no rows.');
}

/** A text in a statement. Nothing in it can end the literal. */
export const literal = (value: string): string =>
  `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`;

/** The methods that run a statement, by which clients are told apart, and what tells a transaction. */
interface AnyClient extends SqliteDatabase {
  run(sql: string): unknown;
  values(text: string): unknown;
  executeQuery(query: object): PromiseLike<unknown>;
  execute(text: string): PromiseLike<unknown>;
  isTransaction?: boolean;
  resultKind?: string;
}

/** A client whose transactions `completeIn` takes. */
interface Driver {
  is(client: AnyClient): boolean;
  /** Why the event can't be completed in it. */
  mistake(client: AnyClient): string | undefined;
  run(client: AnyClient, text: string): unknown;
}

const has = (client: AnyClient, ...methods: string[]) =>
  methods.every((name) => typeof Reflect.get(client, name) === 'function');

const unless = (isTransaction: boolean, transaction: string) =>
  isTransaction ? undefined : `this is no transaction. Pass the ${transaction}`;

const D1 = 'Cloudflare D1 does not support transactions that wait for your code';

const drizzle: Driver = {
  is: (client) => kindOf(client) !== undefined,
  mistake: (client) =>
    kindOf(client)?.includes('D1')
      ? D1
      : unless(
          has(client, 'values', 'rollback') && !hasEnded(client),
          'tx of db.transaction((tx) => …)',
        ),
  run: (client, sql) => client.values(sql),
};

/** Other clients refuse to use a transaction that has ended. */
const hasEnded = (client: AnyClient) =>
  client.resultKind === 'sync' && !isInTransaction((sql) => client.run(sql));

/** Drizzle names its classes. */
function kindOf({ constructor }: AnyClient): string | undefined {
  const kind: unknown = Reflect.get(
    Object(constructor) as object,
    Symbol.for('drizzle:entityKind'),
  );
  return typeof kind === 'string' ? kind : undefined;
}

const kysely: Driver = {
  is: (client) => has(client, 'executeQuery'),
  mistake: ({ isTransaction }) =>
    unless(isTransaction === true, 'trx of db.transaction().execute(async (trx) => …)'),
  // As Kysely's own CompiledQuery.raw(text).
  run: (client, sql) =>
    client.executeQuery({
      sql,
      parameters: [],
      query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      queryId: { queryId: 'call-webhooks' },
    }),
};

const libsqlClient: Driver = {
  is: (client) => has(client, 'execute', 'batch'),
  mistake: (client) => unless(has(client, 'commit'), "transaction of client.transaction('write')"),
  run: (client, sql) => client.execute(sql),
};

const d1: Driver = {
  is: (client) => has(client, 'prepare', 'batch'),
  mistake: () => D1,
  run: () => undefined,
};

/** better-sqlite3, libsql and node:sqlite. */
const handle: Driver = {
  is: (client) => has(client, 'prepare', 'exec'),
  mistake: (client) =>
    isInTransaction((sql) => client.exec(sql))
      ? undefined
      : 'this handle is not in a transaction. Run BEGIN on it first',
  run: (client, sql) => client.prepare(sql).all(),
};

/** Asks SQLite: not every client has a property for it, and that of libsql ends the process if the handle is closed. */
function isInTransaction(run: (sql: string) => unknown): boolean {
  try {
    run('BEGIN');
  } catch (error) {
    if (isNestedBegin(error)) return true;
    throw error;
  }
  run('ROLLBACK');
  return false;
}

/** The first one that knows a client takes it. */
const DRIVERS: readonly Driver[] = [drizzle, kysely, libsqlClient, d1, handle];
