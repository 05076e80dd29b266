import { WebhookError } from '@call-webhooks/core';
import type { SqliteDatabase } from './database.ts';

/**
 * A transaction that `completeIn` takes: a handle of better-sqlite3, libsql or node:sqlite that is in
 * one, or a transaction of Drizzle, Kysely or `@libsql/client`.
 */
export type SqliteTransaction =
  | SqliteDatabase
  | { values(text: string): unknown }
  | { executeQuery(query: never): PromiseLike<unknown>; isTransaction: boolean }
  | { execute(text: string): PromiseLike<unknown> };

/** The methods that run a statement, by which clients are told apart, and what tells a transaction. */
interface AnyClient extends SqliteDatabase {
  run(text: string): unknown;
  values(text: string): unknown;
  executeQuery(query: object): PromiseLike<unknown>;
  execute(text: string): PromiseLike<unknown>;
  isTransaction?: boolean;
  resultKind?: string;
}

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

const D1 = 'Cloudflare D1 has no transactions that wait for your code';

const drizzle: Driver = {
  is: (client) => kindOf(client) !== undefined,
  mistake: (client) =>
    kindOf(client)?.includes('D1')
      ? D1
      : unless(
          has(client, 'values', 'rollback') && !hasEnded(client),
          'tx of db.transaction((tx) => …)',
        ),
  run: (client, text) => client.values(text),
};

/** Other clients refuse to use a transaction that has ended. */
const hasEnded = (client: AnyClient) =>
  client.resultKind === 'sync' && !isInTransaction((text) => client.run(text));

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
  run: (client, text) => client.execute(text),
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
    isInTransaction((text) => client.exec(text))
      ? undefined
      : 'this handle is in no transaction. Run BEGIN on it first',
  run: (client, text) => client.prepare(text).all(),
};

/** Asks SQLite: not every client has a property for it, and that of libsql ends the process if the handle is closed. */
function isInTransaction(run: (text: string) => unknown): boolean {
  try {
    run('BEGIN');
  } catch (error) {
    const cause = (error as Error).cause ?? error; // Drizzle wraps it
    if (String(cause).includes('within a transaction')) return true;
    throw error;
  }
  run('ROLLBACK');
  return false;
}

/** The first one that knows a client takes it. */
const DRIVERS = [drizzle, kysely, libsqlClient, d1, handle];

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
 * @throws WebhookError `invalid-options` for what is no transaction
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
  const answers = (text: string) => mapped(driver.run(client, text), hasRows);
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

const noTransaction = (mistake: string) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`);

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
