/** The methods that run a statement, by which clients are told apart, and what tells a transaction. */
export interface AnyClient {
  query(text: string): PromiseLike<unknown>;
  execute(text: string): PromiseLike<unknown>;
  executeQuery(query: object): PromiseLike<unknown>;
  raw(text: string): PromiseLike<unknown>;
  unsafe(text: string): PromiseLike<unknown>;
  $queryRawUnsafe(text: string): PromiseLike<unknown>;
  isTransaction?: boolean;
  isTransactionActive?: boolean;
  queryRunner?: { isTransactionActive?: boolean };
  totalCount?: number;
}

/**
 * A client whose transactions `completeIn` takes. Whether a transaction is still open, and whether a
 * plain connection is in one, is for the server to say.
 */
export interface Driver {
  is(client: AnyClient): boolean;
  /** Why the event can't be completed in it. */
  mistake(client: AnyClient): string | undefined;
  run(client: AnyClient, text: string): PromiseLike<unknown>;
}

const has = (client: AnyClient, ...methods: string[]) =>
  methods.every((name) => typeof Reflect.get(client, name) === 'function');

const notA = (transaction: string) => `this is no transaction. Pass the ${transaction}`;
const unless = (isTransaction: boolean | undefined, transaction: string) =>
  isTransaction === true ? undefined : notA(transaction);

const NEON_OVER_HTTP =
  'Neon over HTTP has no transactions that wait for your code. Use its Pool, over WebSockets';

const prisma: Driver = {
  is: (client) => has(client, '$queryRawUnsafe'),
  mistake: (client) =>
    unless(!has(client, '$connect'), 'tx of prisma.$transaction(async (tx) => …)'),
  run: (client, text) => client.$queryRawUnsafe(text),
};

const drizzle: Driver = {
  is: (client) => kindOf(client) !== undefined,
  mistake: (client) =>
    kindOf(client)?.startsWith('NeonHttp')
      ? NEON_OVER_HTTP
      : unless(has(client, 'execute', 'rollback'), 'tx of db.transaction(async (tx) => …)'),
  run: (client, text) => client.execute(text),
};

/** Drizzle names its classes, and has too many of them to know them all. */
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
    unless(isTransaction, 'trx of db.transaction().execute(async (trx) => …)'),
  // As Kysely's own CompiledQuery.raw(text).
  run: (client, sql) =>
    client.executeQuery({
      sql,
      parameters: [],
      query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      queryId: { queryId: 'call-webhooks' },
    }),
};

const knex: Driver = {
  is: (client) => has(client, 'raw'),
  mistake: ({ isTransaction }) =>
    unless(isTransaction, 'trx of knex.transaction(async (trx) => …)'),
  run: (client, text) => client.raw(text),
};

const neonOverHttp: Driver = {
  is: (client) => has(client, 'unsafe', 'transaction'),
  mistake: () => NEON_OVER_HTTP,
  run: (client, text) => client.unsafe(text),
};

const postgresJs: Driver = {
  is: (client) => has(client, 'unsafe'),
  mistake: (client) => unless(!has(client, 'begin'), 'sql of sql.begin(async (sql) => …)'),
  run: (client, text) => client.unsafe(text),
};

const typeorm: Driver = {
  is: (client) =>
    'isTransactionActive' in client || 'queryRunner' in client || has(client, 'createQueryRunner'),
  mistake: ({ isTransactionActive, queryRunner }) =>
    unless(
      isTransactionActive ?? queryRunner?.isTransactionActive,
      'manager of dataSource.transaction(async (manager) => …)',
    ),
  run: (client, text) => client.query(text),
};

const pglite: Driver = {
  is: (client) => has(client, 'query', 'exec'),
  mistake: (client) => unless(has(client, 'rollback'), 'tx of db.transaction(async (tx) => …)'),
  run: (client, text) => client.query(text),
};

/** pg, Neon over WebSockets, and any other with such a `query`. */
const pg: Driver = {
  is: (client) => has(client, 'query'),
  mistake: ({ totalCount }) =>
    totalCount === undefined
      ? undefined
      : 'a pool runs each statement on any of its connections. Pass the client of pool.connect() that ran BEGIN',
  run: (client, text) => client.query(text),
};

/** The first one that knows a client takes it. */
export const DRIVERS: readonly Driver[] = [
  ...[prisma, drizzle, kysely, knex, neonOverHttp, postgresJs, typeorm, pglite, pg],
];
