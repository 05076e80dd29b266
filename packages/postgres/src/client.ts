import { WebhookError } from '@call-webhooks/core';

/**
 * The method that is used of a Postgres client: of a `Pool` or `Client` of pg, of a `Pool` or the
 * `neon()` function of Neon's driver, of PGlite, or of any other client with such a `query`.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): PromiseLike<unknown>;
}

const UNDEFINED_TABLE = '42P01';

/** Runs one statement, in one round trip. */
export async function run(
  client: PostgresClient,
  text: string,
  values: unknown[] | undefined,
): Promise<unknown> {
  try {
    return await client.query(text, values);
  } catch (error) {
    throw explained(error);
  }
}

/**
 * The rows of one statement.
 * @param columns the columns that each row must have. Some clients reply with another shape, such as
 *   `[rows, count]`, which would look like rows that are there
 */
export async function rowsOf<Row>(
  client: PostgresClient,
  text: string,
  values: unknown[] | undefined,
  columns: (keyof Row & string)[],
): Promise<Row[]> {
  const result = await run(client, text, values);
  // Neon's HTTP driver gives the rows themselves.
  const rows: unknown = Array.isArray(result)
    ? result
    : (Object(result) as { rows?: unknown }).rows;
  const isRow = (row: unknown) => columns.every((column) => column in (Object(row) as object));
  if (Array.isArray(rows) && rows.every(isRow)) return rows as Row[];
  throw new Error(
    'The Postgres client gave no rows. Pass a Pool of pg, or another client like it.',
  );
}

/** Whether a table is missing. Clients wrap the error of the server, and Prisma quotes its code. */
export function isUndefinedTable(error: unknown, depth = 0): boolean {
  const { code, message, cause } = Object(error) as Record<string, unknown>;
  if (code === UNDEFINED_TABLE || String(message).includes(UNDEFINED_TABLE)) return true;
  return cause !== undefined && depth < 5 && isUndefinedTable(cause, depth + 1);
}

/** The client's error. If the tables are missing, one that says what to do. */
function explained(error: unknown): unknown {
  if (!isUndefinedTable(error)) return error;
  return new Error('The tables of the store are missing. Run `await store.migrate()` once.', {
    cause: error,
  });
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

function mistakeOf(client: unknown): string | undefined {
  const has = (name: string) => typeof Reflect.get(Object(client) as object, name) === 'function';
  if (has('then')) return 'this is a promise. Await it first';
  if (has('unsafe') && !has('query'))
    return 'this is postgres.js. Pass { query: (text, values) => sql.unsafe(text, values) }';
  if (has('createQueryRunner') || (has('define') && has('authenticate')))
    return 'this is an ORM, whose query() gives no plain rows. Pass a Pool of pg';
  if (has('$queryRawUnsafe'))
    return 'this is Prisma. Pass a Pool of pg, or { query: (text, values = []) => prisma.$queryRawUnsafe(text, ...values) }';
  if (has('query')) return undefined;
  return 'expected one with query(text, values), such as a Pool of pg';
}
