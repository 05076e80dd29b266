import { WebhookError } from '@call-webhooks/core';
import { onlyText, sqlState } from './client.ts';

/**
 * A transaction that `completeIn` accepts: one of pg, Neon (over WebSockets), PGlite or TypeORM
 * (`query`), Drizzle (`execute`), Kysely, Knex, postgres.js or Prisma. For any other client, pass `{
 * query: (text) => … }` with a function that runs a statement in the transaction.
 */
export type PostgresTransaction =
  | { query(text: string): PromiseLike<unknown> }
  | { execute(text: string): PromiseLike<unknown> }
  | { executeQuery(query: never): PromiseLike<unknown>; isTransaction: boolean }
  | { raw(text: string): PromiseLike<unknown> }
  | { unsafe(text: string): PromiseLike<unknown> }
  | { $queryRawUnsafe(text: string): PromiseLike<unknown> };

/** What an UPDATE marks as done, and which rows may be. */
export interface Completion {
  /** `UPDATE … SET …` */
  readonly update: string;
  /** A condition that holds for the row of who holds the lease, and of who completed it before. */
  readonly where: string;
  /** A condition that holds in the database of the store or queue. */
  readonly isHere: string;
}

const SERIALIZATION_FAILURE = '40001';
const UNDEFINED_TABLE = '42P01';

/** Whether the transaction has an id, which it gets with its first write. */
const HAS_ID = 'txid_current_if_assigned() IS NOT NULL';

/**
 * Runs an UPDATE in a transaction of the user. It has no parameters, since no two clients agree on
 * placeholders.
 *
 * A statement that is a transaction by itself has no id when it starts, and changes nothing. Neither
 * has one the first write of a transaction, which then needs two more round trips.
 * @returns `false` if no row was updated
 * @throws WebhookError `invalid-options` for what is no transaction, is one on another database, or one
 *   that can't see that the lease was renewed
 */
export async function completeIn(
  tx: unknown,
  { update, where, isHere }: Completion,
): Promise<boolean> {
  const run = runnerOf(tx);
  const ask = async (text: string) => {
    try {
      const answer = onlyText(await run(text));
      if (answer !== undefined) return answer;
    } catch (error) {
      throw explained(error);
    }
    throw new Error('completeIn: the client of the transaction returned no rows.');
  };

  const text = `WITH completed AS (${update} WHERE (${where}) AND ${HAS_ID} RETURNING 1)
SELECT CASE
    WHEN EXISTS (SELECT FROM completed) THEN 'done'
    WHEN NOT ${isHere} THEN 'elsewhere'
    WHEN ${HAS_ID} THEN 'lost'
    ELSE 'no id' END AS status`;
  let status = await ask(text);
  if (status === 'no id') {
    await ask('SELECT txid_current()::text AS id');
    status = await ask(text);
  }
  if (status === 'elsewhere') throw misuse(OTHER_DATABASE);
  if (status === 'no id')
    throw misuse('this connection is not in a transaction. Run BEGIN on it first');
  if (status !== 'done' && status !== 'lost')
    throw new Error('completeIn: the client of the transaction returned no answer.');
  return status === 'done';
}

const OTHER_DATABASE =
  'this connection is to a database that does not contain the store or queue. Pass a transaction in their database';
const STRICT =
  'a transaction under REPEATABLE READ or SERIALIZABLE fails if the lease was renewed after it began. Use READ COMMITTED';

function explained(error: unknown): unknown {
  const state = sqlState(error);
  if (state === UNDEFINED_TABLE) return misuse(OTHER_DATABASE, error);
  return state === SERIALIZATION_FAILURE ? misuse(STRICT, error) : error;
}

const misuse = (mistake: string, cause?: unknown) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`, {
    ...(cause !== undefined && { cause }),
    docs: 'exactly-once.md#your-own-database',
  });

/** The methods that run a statement, by which clients are told apart, and what tells a transaction. */
interface AnyClient {
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

type Run = (text: string) => PromiseLike<unknown>;

/**
 * Whether a transaction is still open, and whether a plain connection is in one, is for the server to say.
 * @returns runs a statement in a transaction
 * @throws WebhookError `invalid-options` for what is no transaction, as far as the client tells
 */
function runnerOf(tx: unknown): Run {
  const client = Object(tx) as AnyClient;
  const has = (...methods: string[]) =>
    methods.every((name) => typeof Reflect.get(client, name) === 'function');
  const given = (isTransaction: boolean | undefined, transaction: string, run: Run): Run => {
    if (isTransaction === true) return run;
    throw misuse(`this is no transaction. Pass the ${transaction}`);
  };
  const drizzle = drizzleKind(client);

  // The order matters: each has methods of those below.
  if (has('$queryRawUnsafe'))
    return given(!has('$connect'), 'tx of prisma.$transaction(async (tx) => …)', (text) =>
      client.$queryRawUnsafe(text),
    );
  if (drizzle?.startsWith('NeonHttp') || (!drizzle && has('unsafe', 'transaction')))
    throw misuse(
      'Neon over HTTP does not support transactions that wait for your code. Use its Pool, over WebSockets',
    );
  if (drizzle !== undefined)
    return given(has('execute', 'rollback'), 'tx of db.transaction(async (tx) => …)', (text) =>
      client.execute(text),
    );
  if (has('executeQuery'))
    return given(
      client.isTransaction,
      'trx of db.transaction().execute(async (trx) => …)',
      // As Kysely's own CompiledQuery.raw(text).
      (sql) =>
        client.executeQuery({
          sql,
          parameters: [],
          queryId: { queryId: 'call-webhooks' },
          query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
        }),
    );
  if (has('raw'))
    return given(client.isTransaction, 'trx of knex.transaction(async (trx) => …)', (text) =>
      client.raw(text),
    );
  if (has('unsafe'))
    return given(!has('begin'), 'sql of sql.begin(async (sql) => …)', (text) =>
      client.unsafe(text),
    );
  if (has('getTransactionContext', 'execute'))
    throw misuse(
      'this is the EntityManager of MikroORM. Pass { query: (text) => em.execute(text) } with the em of em.transactional(async (em) => …)',
    );
  if (has('commit', 'rollback') && 'sequelize' in client)
    throw misuse(
      "this is the transaction of Sequelize. Pass { query: (text) => sequelize.query(text, { transaction: t, type: 'SELECT' }) }",
    );
  const run: Run = (text) => client.query(text);
  if ('isTransactionActive' in client || 'queryRunner' in client || has('createQueryRunner'))
    return given(
      client.isTransactionActive ?? client.queryRunner?.isTransactionActive,
      'manager of dataSource.transaction(async (manager) => …)',
      run,
    );
  if (has('query', 'exec'))
    return given(has('rollback'), 'tx of db.transaction(async (tx) => …)', run);
  if (!has('query'))
    throw misuse(
      'expected a transaction of a Postgres client. For any other client, pass { query: (text) => … } with a function that runs a statement in the transaction and returns its rows',
    );
  if (client.totalCount === undefined) return run;
  throw misuse(
    'a pool runs each statement on any of its connections. Pass the client of pool.connect() that ran BEGIN',
  );
}

/** Drizzle names its classes, and has too many of them to know them all. */
function drizzleKind({ constructor }: AnyClient): string | undefined {
  const kind: unknown = Reflect.get(
    Object(constructor) as object,
    Symbol.for('drizzle:entityKind'),
  );
  return typeof kind === 'string' ? kind : undefined;
}

/**
 * For the client that the store itself uses.
 * @throws WebhookError `invalid-options`
 */
export function refuseOwnClient(client: object): never {
  runnerOf(client); // a pool, or a client that gives its transactions another object
  throw misuse(
    'this is the connection of the store itself, whose other calls would be in the transaction. Give the store a pool',
  );
}

/** A text in a statement. Nothing in it can end the literal, whatever the settings of the server are. */
export function literal(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text));
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `convert_from(decode('${hex}', 'hex'), 'UTF8')`;
}
