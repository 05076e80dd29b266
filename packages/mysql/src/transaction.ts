import { WebhookError } from '@call-webhooks/core';
import { ERROR, errorNumber } from './pool.ts';
import { CLOCK, VERSION } from './procedure.ts';
import type { Found } from './tables.ts';

/**
 * A transaction that `completeIn` takes: a connection of mysql2 after `beginTransaction()`, or that of
 * Drizzle (`execute`), Kysely (`executeQuery`), Knex (`raw`), TypeORM (`query`), Sequelize (`sequelize`) or
 * Prisma (`$queryRawUnsafe`). For any other client, pass `{ query: (text) => … }` with a function that runs a
 * statement in the transaction and gives its rows.
 */
export type MysqlTransaction =
  | { query(text: string): unknown }
  | { execute(text: never): PromiseLike<unknown> }
  | { executeQuery(query: never): PromiseLike<unknown> }
  | { raw(text: string): PromiseLike<unknown> }
  | { sequelize: object; commit(): PromiseLike<unknown> }
  | { $queryRawUnsafe(text: string): PromiseLike<unknown> };

/** An event, and who completes it. */
export interface Completion extends Found {
  readonly prefix: string;
  readonly key: string;
  readonly token: string;
}

/**
 * The time at which a row was locked: the statement may have waited for it. It is the time at which the
 * statement began, and how long ago that is.
 */
const LATEST_CLOCK = `(${CLOCK} + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)) DIV 1000)`;

/**
 * Marks an event as done in a transaction of the user. The statements have no parameters, since no two
 * clients agree on placeholders.
 *
 * A savepoint outlives its statement in a transaction only. So a pool, or a connection without one, fails
 * before anything is written.
 * @returns `false` if the lease was lost
 * @throws WebhookError `invalid-options` for what is no transaction, is one on another database, or one
 *   that can't see that the lease was renewed
 */
export async function completeIn(tx: unknown, completion: Completion): Promise<boolean> {
  const { database, prefix, id, key, token } = completion;
  const run = runnerOf(tx);
  const table = (name: string) => `\`${database.replaceAll('`', '``')}\`.${prefix}${name}`;
  const events = table('events');
  await run.write('SAVEPOINT call_webhooks');
  await run.write('RELEASE SAVEPOINT call_webhooks').catch((error: unknown) => {
    throw isMissingSavepoint(error) ? misuse(NO_TRANSACTION, error) : error;
  });
  const ofTables = `(SELECT CASE WHEN version > ${String(VERSION)} THEN 'newer' WHEN id <> ${literal(id)} THEN 'elsewhere' END
    FROM ${table('schema_version')})`;
  const status = await run
    .read(
      `SELECT COALESCE(${ofTables}, MAX(CASE
    WHEN token <> ${literal(token)} THEN 'lost'
    WHEN state = 'done' THEN 'done'
    WHEN state = 'open' AND lease_until > ${LATEST_CLOCK} THEN 'held' END), 'lost') AS status
  FROM ${events} WHERE event_key = ${literal(key)} FOR UPDATE`,
    )
    .catch((error: unknown) => {
      throw explained(error);
    });
  if (status === 'elsewhere') throw misuse(OTHER_DATABASE);
  if (status === 'newer')
    throw misuse(
      'a newer release of @call-webhooks/mysql has migrated the tables. Install it here, too',
    );
  if (status === 'held')
    await run.write(
      `UPDATE ${events} SET state = 'done' WHERE event_key = ${literal(key)} AND token = ${literal(token)}`,
    );
  if (status === 'held' || status === 'done') return true;
  if (status === 'lost') return false;
  throw new Error('completeIn: the client of the transaction returned no answer.');
}

const NO_TRANSACTION =
  'this is in no transaction. Pass a connection after beginTransaction(), or the transaction that your ORM gives you';
const OTHER_DATABASE =
  'this connection is to a database that does not contain the store. Pass a transaction in its database';
const STRICT =
  'the lease was renewed after this transaction began, and innodb_snapshot_isolation lets a transaction under REPEATABLE READ or SERIALIZABLE fail then. Use READ COMMITTED';

function isMissingSavepoint(error: unknown): boolean {
  // 1305, as for a procedure. Prisma has it in a text alone.
  return (
    errorNumber(error) === ERROR.noProcedure || /SAVEPOINT .*does not exist/i.test(String(error))
  );
}

function explained(error: unknown): unknown {
  const number = errorNumber(error);
  if (number === ERROR.noTable) return misuse(OTHER_DATABASE, error);
  return number === ERROR.changedSince ? misuse(STRICT, error) : error;
}

const misuse = (mistake: string, cause?: unknown) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`, {
    ...(cause !== undefined && { cause }),
    docs: 'exactly-once.md#your-own-database',
  });

/** How a client runs a statement that gives one text, and one that gives none. */
interface Runner {
  read(text: string): Promise<unknown>;
  write(text: string): Promise<unknown>;
}

/**
 * Clients are told apart by their methods. Whether a transaction is open is for the server to say.
 * @throws WebhookError `invalid-options` for what is no client of a transaction
 */
function runnerOf(tx: unknown): Runner {
  const client = Object(tx) as Record<string, unknown>;
  const has = (name: string) => typeof client[name] === 'function';
  const call = async (name: string, ...values: unknown[]): Promise<unknown> =>
    (client[name] as (...values: unknown[]) => unknown)(...values);
  const by = (run: (text: string) => Promise<unknown>, write = run): Runner => ({
    read: async (text) => onlyText(await run(text)),
    write,
  });

  if (has('getConnection'))
    throw misuse(
      'a pool runs each statement on any of its connections. Pass a connection of pool.getConnection() after its beginTransaction()',
    );
  // The order matters: some have methods of those below.
  if (has('query') && has('promise'))
    return runnerOf((client['promise'] as () => unknown).call(tx));
  if (has('$queryRawUnsafe'))
    return by(
      (text) => call('$queryRawUnsafe', text),
      (text) => call('$executeRawUnsafe', text),
    );
  if (has('executeQuery'))
    return by((sql) =>
      // As Kysely's own CompiledQuery.raw(text).
      call('executeQuery', {
        sql,
        parameters: [],
        queryId: { queryId: 'call-webhooks' },
        query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      }),
    );
  if (has('raw')) return by((text) => call('raw', text));
  if (has('commit') && client['sequelize'] instanceof Object) {
    const sequelize = client['sequelize'] as { query(text: string, options: object): unknown };
    return by(async (text) => sequelize.query(text, { transaction: tx }));
  }
  if (has('query')) return by((text) => call('query', text));
  // Drizzle, whose `query` is no function.
  if (has('execute')) return by((text) => call('execute', text));
  throw misuse(
    'expected a transaction of a MySQL client. For any other client, pass { query: (text) => … } with a function that runs a statement in the transaction and returns its rows',
  );
}

/** The only text in a reply: clients give rows, a list of rows and columns, or an object that has them. */
function onlyText(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null) return reply;
  if (Array.isArray(reply)) return onlyText(reply[0]);
  return onlyText('rows' in reply ? reply.rows : Object.values(reply)[0]);
}

/** A text in a statement: its bytes. Nothing in it can end the literal, whatever the mode of the server is. */
const literal = (text: string) => `x'${Buffer.from(text).toString('hex')}'`;
