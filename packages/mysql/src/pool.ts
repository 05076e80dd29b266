import { WebhookError } from '@call-webhooks/core';

/** A pool of mysql2: of `createPool()` from `mysql2`, or from `mysql2/promise`. */
export interface MysqlPool {
  getConnection(...args: never[]): unknown;
  execute(...args: never[]): unknown;
  releaseConnection(...args: never[]): unknown;
}

/** What is used of a connection of mysql2's promises. */
interface Connection {
  execute(statement: object): Promise<[unknown, unknown]>;
  query(statement: object): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
}

interface PromisePool {
  getConnection(): Promise<Connection>;
}

/** A row, as a list of its columns. */
export type Row = readonly unknown[];

/** A connection on which a statement takes longer than this is closed; milliseconds. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** Error numbers of the server. */
export const ERROR = {
  noTable: 1146,
  tableDenied: 1142,
  noProcedure: 1305,
  otherParameters: 1318,
  /** As a procedure of ours says that the tables are those of another release. */
  signal: 1644,
  lockWait: 1205,
  deadlock: 1213,
  changedSince: 1020,
  noDatabase: 1046,
} as const;

/**
 * The number of an error of the server. Clients of other libraries wrap it: Sequelize in `parent`, TypeORM in
 * `driverError`, Prisma in `meta.driverAdapterError.cause`, where its number is in `originalCode` or `code`.
 */
export function errorNumber(error: unknown, depth = 0): number | undefined {
  const { errno, code, originalCode, ...more } = Object(error) as Record<string, unknown>;
  for (const own of [errno, originalCode, code]) {
    const number = typeof own === 'string' && /^\d{4}$/.test(own) ? Number(own) : own;
    if (typeof number === 'number' && number >= 1_000) return number;
  }
  const { cause, parent, driverError, meta, driverAdapterError } = more;
  for (const inner of [
    (Object(error) as { cause?: unknown }).cause ?? cause,
    parent,
    driverError,
    meta,
    driverAdapterError,
  ]) {
    const found = inner instanceof Object && depth < 5 ? errorNumber(inner, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A pool, however it was created, that gives rows in one way, whatever the user's settings are. */
export class Connections {
  readonly #pool: PromisePool;

  /** @throws WebhookError `invalid-options` for what is no pool of mysql2 */
  constructor(creator: string, pool: MysqlPool) {
    const mistake = mistakeOf(pool);
    if (mistake !== undefined)
      throw new WebhookError('invalid-options', `Invalid pool of ${creator}: ${mistake}.`);
    const { promise } = pool as { promise?: () => PromisePool };
    this.#pool =
      typeof promise === 'function' ? promise.call(pool) : (pool as unknown as PromisePool);
  }

  /**
   * Runs one prepared statement. Texts are given as bytes, so that no charset of a connection changes them.
   * @param within how long the caller waits; milliseconds. Who got no connection in half of it is not sent
   */
  run(sql: string, values: Row, within = Infinity): Promise<Row[]> {
    return this.use(async (execute) => execute(sql, values), within);
  }

  /**
   * Lends a connection.
   * @param isTainted whether it must not be used by others after that
   */
  async use<T>(
    work: (execute: (sql: string, values?: Row) => Promise<Row[]>) => Promise<T>,
    within = Infinity,
    isTainted = false,
  ): Promise<T> {
    const sendBy = performance.now() + within / 2;
    const connection = await this.#pool.getConnection();
    if (performance.now() > sendBy) {
      // It goes back as it is: opening another one for each late call would keep a busy server busy.
      connection.release();
      throw new Error(
        'MySQL is busy: a call was not sent, since its answer would have arrived too late.',
      );
    }
    let isBroken = true;
    const execute = async (sql: string, values?: Row) => {
      const settings = { rowsAsArray: true, nestTables: false, typeCast };
      const statement = { sql, timeout: STATEMENT_TIMEOUT_MS, ...settings };
      const [reply] = values
        ? await connection.execute({
            ...statement,
            values: values.map(asBytes),
            namedPlaceholders: false,
          })
        : await connection.query(statement);
      return rowsOf(reply);
    };
    try {
      const answer = await work(execute);
      isBroken = isTainted;
      return answer;
    } catch (error) {
      isBroken = isTainted || (Object(error) as { sqlState?: unknown }).sqlState === undefined;
      throw error;
    } finally {
      if (isBroken) connection.destroy();
      else connection.release();
    }
  }
}

/** A function of a pool would be called if a statement had none. */
const typeCast = (_field: unknown, next: () => unknown) => next();

const asBytes = (value: unknown) => (typeof value === 'string' ? Buffer.from(value) : value);

/** The rows of a statement, or of the first result of a procedure. */
function rowsOf(reply: unknown): Row[] {
  const [first] = Array.isArray(reply) ? (reply as unknown[]) : [];
  if (Array.isArray(first) && (first.length === 0 || Array.isArray(first[0])))
    return first as Row[];
  return Array.isArray(reply) ? (reply as Row[]) : [];
}

/** For an answer of another kind than its statement gives. It may hold a body, and is not told. */
export const oddAnswer = () => new Error('MySQL returned an unexpected answer.');

/** A text of a row, which the server keeps as bytes. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  throw oddAnswer();
}

export function numberOf(value: unknown): number {
  const number = Number(value);
  if (value === null || !Number.isSafeInteger(number)) throw oddAnswer();
  return number;
}

function mistakeOf(pool: unknown): string | undefined {
  const has = (...names: string[]) =>
    names.every((name) => typeof Reflect.get(Object(pool) as object, name) === 'function');
  if (has('then')) return 'this is a promise. Await it first';
  if (has('beginTransaction'))
    return 'this is one connection, which does not reconnect once it is lost. Pass a pool of mysql2, createPool(uri)';
  if (has('getConnection', 'execute', 'releaseConnection')) return undefined;
  if (has('getConnection')) return 'this is a pool of another client. Pass one of mysql2';
  return 'expected a pool of mysql2, createPool(uri)';
}
