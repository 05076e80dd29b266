import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { isUndefinedTable } from './client.ts';
import { DRIVERS, type AnyClient, type Driver } from './transaction-drivers.ts';

/**
 * A transaction that `completeIn` takes: of pg, Neon (over WebSockets), PGlite or TypeORM (`query`), of
 * Drizzle (`execute`), Kysely, Knex, postgres.js or Prisma. For any other client, pass
 * `{ query: (text) => … }` with a function that runs a statement in the transaction.
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
}

/** Whether the transaction has an id, which it gets with its first write. */
const HAS_ID = 'txid_current_if_assigned() IS NOT NULL';

/**
 * Runs an UPDATE in a transaction of the user. It has no parameters, since no two clients agree on
 * placeholders, and gives one value, since some clients rename columns.
 *
 * A statement that is a transaction by itself has no id when it starts, and changes nothing. Neither
 * has one the first write of a transaction, which then needs two more round trips.
 * @returns `false` if no row was updated
 * @throws WebhookError `invalid-options` for what is no transaction, or is one on another database
 */
export async function completeIn(tx: unknown, { update, where }: Completion): Promise<boolean> {
  const client = Object(tx) as AnyClient;
  const driver = driverOf(client);
  const ask = async (text: string) => {
    try {
      return onlyValue(await driver.run(client, text));
    } catch (error) {
      throw isUndefinedTable(error) ? otherDatabase(error) : error;
    }
  };

  const text = `WITH completed AS (${update} WHERE (${where}) AND ${HAS_ID} RETURNING 1)
SELECT CASE
    WHEN EXISTS (SELECT FROM completed) THEN 'done'
    WHEN ${HAS_ID} THEN 'lost'
    ELSE 'no id' END AS status`;
  let status = await ask(text);
  if (status === 'no id') {
    await ask('SELECT txid_current()::text AS id');
    status = await ask(text);
  }
  if (status === 'no id')
    throw misuse('this connection is in no transaction. Run BEGIN on it first');
  return status === 'done';
}

/** @throws WebhookError `invalid-options` for what is no transaction, as far as the client tells */
function driverOf(client: AnyClient): Driver {
  const driver = DRIVERS.find((one) => one.is(client));
  if (!driver) throw misuse('expected a transaction of a Postgres client');
  const mistake = driver.mistake(client);
  if (mistake !== undefined) throw misuse(mistake);
  return driver;
}

/**
 * For the client that the store itself uses.
 * @throws WebhookError `invalid-options`
 */
export function refuseOwnClient(client: object): never {
  driverOf(client as AnyClient); // a pool, or a client that gives its transactions another object
  throw misuse(
    'this is the connection of the store itself, whose other calls would be in the transaction. Give the store a pool',
  );
}

const otherDatabase = (cause: unknown) =>
  misuse(
    'this connection is to another database than that of the store or queue, whose tables are not in it. Pass a transaction on their database',
    cause,
  );

const misuse = (mistake: string, cause?: unknown) =>
  new WebhookError('invalid-options', `completeIn: ${mistake}.`, {
    ...(cause !== undefined && { cause }),
    docs: docsUrl('exactly-once.md#your-own-database'),
  });

/** Clients reply with the rows, or with an object that has them. */
function onlyValue(result: unknown): unknown {
  const rows: unknown = Array.isArray(result)
    ? result
    : (Object(result) as { rows?: unknown }).rows;
  if (Array.isArray(rows) && rows.length === 1)
    return Object.values(Object(rows[0]) as object)[0] as unknown;
  throw new Error('completeIn: the client of the transaction gave no rows.');
}

/** A text in a statement. Nothing in it can end the literal, whatever the settings of the server are. */
export function literal(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text));
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `convert_from(decode('${hex}', 'hex'), 'UTF8')`;
}
