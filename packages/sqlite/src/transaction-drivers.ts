import type { SqliteDatabase } from './database.ts';

/** The methods that run a statement, by which clients are told apart, and what tells a transaction. */
export interface AnyClient extends SqliteDatabase {
  run(text: string): unknown;
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
export const DRIVERS: readonly Driver[] = [drizzle, kysely, libsqlClient, d1, handle];
