import type { MysqlPool } from '../src/index.ts';

/** A call of a procedure, without the prefix, and its values as texts and numbers. */
export type Called = [procedure: string, ...values: unknown[]];

type Rows = readonly (readonly unknown[])[];

/** The rows of a call, or an error that is thrown. */
export type Reply = (procedure: string, values: unknown[]) => Rows | Promise<Rows>;

/** A pool of one connection, which keeps what is called. */
export function recordingPool(
  reply: Reply,
  { version = 1, prefix = 'call_webhooks_' }: { version?: number; prefix?: string } = {},
) {
  const calls: Called[] = [];
  const log: string[] = [];
  const connection = {
    async execute({ sql, values }: { sql: string; values: unknown[] }) {
      const [, name = '', marks = ''] = /^CALL (\w+)\(((?:\?(?:, )?)*)\)$/.exec(sql) ?? [];
      if (!name.startsWith(prefix)) throw new Error(`This is no procedure of the store: ${sql}`);
      if (marks.split('?').length - 1 !== values.length) throw new Error(`Other values: ${sql}`);
      const texts = values.map((value) => (Buffer.isBuffer(value) ? value.toString() : value));
      calls.push([name.slice(prefix.length), ...texts]);
      return [[await reply(name.slice(prefix.length), texts), { affectedRows: 0 }], undefined];
    },
    async query({ sql }: { sql: string }) {
      log.push(sql);
      if (sql === 'SELECT DATABASE()') return [[['calls']], undefined];
      const row = [version, 'id of the tables'];
      return [sql.startsWith('SELECT version') && version > 0 ? [row] : [], undefined];
    },
    release: () => void log.push('release'),
    destroy: () => void log.push('destroy'),
  };
  const pool = {
    getConnection: () => Promise.resolve(connection),
    ...{ execute: () => undefined, releaseConnection: () => undefined },
  } as MysqlPool & { getConnection(): Promise<typeof connection> };
  return { pool, calls, log };
}

/** An error as the server gives it. */
export const serverError = (errno: number, more: object = {}) =>
  Object.assign(new Error(`error ${String(errno)}`), { errno, sqlState: 'HY000', ...more });
