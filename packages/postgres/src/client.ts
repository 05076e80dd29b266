import { WebhookError } from '@call-webhooks/core';
import { sha256 } from '@call-webhooks/core/stores';

/**
 * The part of a Postgres client that is used: the method `query` of a `Pool` of pg, of a `Pool` or the
 * `neon()` function of Neon's driver, of PGlite, or of any other client that reconnects by itself. A
 * single connection, such as a `Client` of pg, is refused. Settings of the client that change rows,
 * column names or parsed types have no effect.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): PromiseLike<unknown>;
}

export const NO_TEXT =
  'The Postgres client did not return a row with a single text. Pass a Pool of pg, or a client that works like it.';

/**
 * The answer to a statement, each of which gives one row with one text, in JSON: clients can be told to
 * rename columns, to parse numbers, booleans and times in another way, or to give rows as lists.
 * So an answer is there, or it is an error; no row is never taken for "nothing found".
 */
export async function answerOf(
  client: PostgresClient,
  text: string,
  values: unknown[],
): Promise<unknown> {
  const answer = onlyText(await replyOf(client, text, values));
  if (answer === undefined) throw new Error(NO_TEXT);
  try {
    return JSON.parse(answer) as unknown;
  } catch {
    throw new Error(NO_TEXT);
  }
}

/** A password with a slash in it makes a connection URL that is none, of which pg says no more than that. */
async function replyOf(client: PostgresClient, text: string, values: unknown[]): Promise<unknown> {
  try {
    return await client.query(text, values);
  } catch (error) {
    if ((Object(error) as { code?: unknown }).code !== 'ERR_INVALID_URL') throw error;
    // Without its cause, which has the URL and so the password.
    // eslint-disable-next-line preserve-caught-error
    throw new Error(
      "The connection URL of the Postgres client can't be parsed. Encode the user name and the password in it with encodeURIComponent(): a slash in a password is %2F, for example.",
    );
  }
}

/** The only text in a reply: clients give the rows, or an object that has them. */
export function onlyText(reply: unknown): string | undefined {
  const rows: unknown = Array.isArray(reply) ? reply : (Object(reply) as { rows?: unknown }).rows;
  if (!Array.isArray(rows) || rows.length !== 1) return undefined;
  const columns = Object.values(Object(rows[0]) as object) as unknown[];
  return columns.length === 1 && typeof columns[0] === 'string' ? columns[0] : undefined;
}

/** For an answer of another kind than its statement gives. It may hold a body, and is not told. */
export const oddAnswer = () => new Error('Postgres returned an unexpected answer.');

/** @throws Error for an answer that is neither yes nor no */
export function yesOrNo(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw oddAnswer();
}

/**
 * The SQLSTATE of an error of the server. Clients wrap it, as its cause, or deeper: Prisma has it in
 * `meta.code`, or in `meta.driverAdapterError.cause.originalCode`.
 */
export function sqlState(error: unknown, depth = 0): string | undefined {
  const { code, originalCode, meta, driverAdapterError, cause } = Object(error) as Record<
    string,
    unknown
  >;
  for (const own of [code, originalCode])
    if (typeof own === 'string' && /^\d[\dA-Z]{4}$/.test(own)) return own;
  for (const inner of [meta, driverAdapterError, cause]) {
    const found = inner !== undefined && depth < 5 ? sqlState(inner, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The statement is unknown, or is there already: a pooler gives each transaction another connection. */
const NOT_PREPARED = ['26000', '42P05'];

/**
 * The same client, on which a statement is prepared once for each connection. Behind a pooler that
 * can't do so, and with clients other than pg's, statements have no name.
 */
export function preparing(client: PostgresClient): PostgresClient {
  if (!isPg(client)) return client;
  const naming = client as unknown as { query(statement: object): PromiseLike<unknown> };
  const names = new Map<string, string>();
  let works = true;
  return {
    async query(text, values) {
      if (!works) return client.query(text, values);
      let name = names.get(text);
      if (name === undefined) {
        // By its text: two versions of this package may share a connection of a pooler.
        name = `call-webhooks ${(await sha256(text)).slice(0, 40)}`;
        names.set(text, name);
      }
      try {
        return await naming.query({ name, text, ...(values && { values }) });
      } catch (error) {
        if (!NOT_PREPARED.includes(sqlState(error) ?? '')) throw error;
        works = false; // and nothing was run
        return client.query(text, values);
      }
    },
  };
}

/** Whether this is a `Pool` of pg with pg's own `query()`. One of a subclass may take a text only. */
function isPg(client: PostgresClient): boolean {
  if (typeof Reflect.get(client, 'totalCount') !== 'number') return false;
  let owner = client as object | null;
  while (owner && !Object.hasOwn(owner, 'query')) owner = Object.getPrototypeOf(owner) as object;
  return owner !== null && Object.hasOwn(owner, 'connect');
}

/** How many statements a client runs at once: a pool says so, and HTTP has no limit. */
export function concurrencyOf(client: PostgresClient): number {
  if (typeof client === 'function') return Infinity;
  const { options } = client as { options?: { max?: unknown } };
  return typeof options?.max === 'number' ? options.max : 10; // as pg's and postgres.js's pools
}

/**
 * Tells a client from what only looks like one.
 * @throws WebhookError `invalid-options`
 */
export function checkClient(creator: string, client: PostgresClient): void {
  const mistake = mistakeOf(client);
  if (mistake === undefined) return;
  throw new WebhookError('invalid-options', `Invalid client of ${creator}: ${mistake}.`);
}

/** An EntityManager of TypeORM within a transaction. */
const hasRunner = (client: unknown) =>
  (Object(client) as { queryRunner?: unknown }).queryRunner instanceof Object;

/** A `Client` of pg, of Neon or of a subclass, and the one that a pool lends. */
const isSingleConnection = (client: unknown) =>
  'connectionParameters' in Object(client) &&
  typeof Reflect.get(Object(client) as object, 'totalCount') !== 'number';

function mistakeOf(client: unknown): string | undefined {
  const has = (...names: string[]) =>
    names.every((name) => typeof Reflect.get(Object(client) as object, name) === 'function');
  if (has('then')) return 'this is a promise. Await it first';
  if (has('unsafe') && (has('release') || has('savepoint')))
    return 'this is one connection of postgres.js, which does not reconnect once it is lost. Pass { query: (text, values) => sql.unsafe(text, values) } with the sql of postgres()';
  if (has('unsafe') && !has('query'))
    return 'this is postgres.js. Pass { query: (text, values) => sql.unsafe(text, values) }';
  if (has('createQueryRunner') || (has('define') && has('authenticate')))
    return 'this is an ORM, whose query() returns no plain rows. Pass a Pool of pg';
  if (has('$queryRawUnsafe'))
    return 'this is Prisma. Pass a Pool of pg, or { query: (text, values = []) => prisma.$queryRawUnsafe(text, ...values) }';
  if (has('query', 'rollback') || 'isTransactionActive' in Object(client) || hasRunner(client))
    return 'this is a transaction, or one connection that may be in one. Pass the Pool';
  if (isSingleConnection(client))
    return 'this is one connection, which does not reconnect once it is lost. Pass a Pool of pg, new Pool({ connectionString }). To create the tables with a single connection, run migrationSql() on it';
  if (has('query')) return undefined;
  return 'expected one with query(text, values), such as a Pool of pg';
}
