import { describe, expect, it, jest } from '@jest/globals';
import { completeIn } from '../src/transaction.ts';

const COMPLETION = { update: 'UPDATE events SET done = true', where: 'true' };
const reply = (_query?: unknown) => Promise.resolve([{ status: 'done' }]);
const no = () => Promise.reject(new Error('not of this client'));

/** An object of Drizzle, by its class. */
function drizzle(kind: unknown, methods: object): object {
  const constructor = Object.assign(() => kind, { [Symbol.for('drizzle:entityKind')]: kind });
  return { constructor, ...methods };
}

const NEON =
  'Neon over HTTP has no transactions that wait for your code. Use its Pool, over WebSockets';
const notA = (transaction: string) => `this is no transaction. Pass the ${transaction}`;
const PRISMA = notA('tx of prisma.$transaction(async (tx) => …)');
const DRIZZLE = notA('tx of db.transaction(async (tx) => …)');
const KYSELY = notA('trx of db.transaction().execute(async (trx) => …)');
const KNEX = notA('trx of knex.transaction(async (trx) => …)');
const POSTGRES_JS = notA('sql of sql.begin(async (sql) => …)');
const TYPEORM = notA('manager of dataSource.transaction(async (manager) => …)');
const POOL =
  'a pool runs each statement on any of its connections. Pass the client of pool.connect() that ran BEGIN';

type Run = typeof reply;

describe('a transaction is asked as its client expects', () => {
  it.each<[string, (run: Run) => object]>([
    ['Prisma', (run) => ({ $queryRawUnsafe: run })],
    ['Drizzle', (run) => drizzle('PgTransaction', { execute: run, rollback: no, query: {} })],
    ['Knex', (run) => Object.assign(() => no(), { raw: run, isTransaction: true })],
    ['postgres.js', (run) => Object.assign(() => no(), { unsafe: run })],
    [
      'an EntityManager of TypeORM',
      (run) => ({ query: run, queryRunner: { isTransactionActive: true } }),
    ],
    ['a QueryRunner of TypeORM', (run) => ({ query: run, isTransactionActive: true })],
    ['PGlite', (run) => ({ query: run, exec: no, rollback: no })],
    ['a Client of pg', (run) => ({ query: run })],
    ['any with a class of another kind', (run) => drizzle(5, { query: run })],
    [
      'any without a prototype',
      (run) => Object.assign(Object.create(null) as object, { query: run }),
    ],
  ])('%s: with the text alone', async (_name, make) => {
    const run = jest.fn(reply);
    expect(await completeIn(make(run), COMPLETION)).toBe(true);
    expect(run.mock.calls).toEqual([[expect.stringContaining('UPDATE events SET done = true')]]);
  });

  it('Kysely: with a query as its own CompiledQuery.raw makes them', async () => {
    const executeQuery = jest.fn(reply);
    expect(await completeIn({ executeQuery, isTransaction: true }, COMPLETION)).toBe(true);
    const sql = expect.stringContaining('UPDATE events SET done = true');
    expect(executeQuery.mock.calls).toEqual([
      [
        {
          ...{ sql, parameters: [] },
          query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
          queryId: { queryId: 'call-webhooks' },
        },
      ],
    ]);
  });

  it('whatever the methods are called with: as those of the client', async () => {
    const make = (name: string, more: object = {}) => ({
      rows: [{ status: 'done' }],
      [name]() {
        return Promise.resolve(this); // lost if the method were torn off
      },
      ...more,
    });
    for (const tx of [
      ...[make('$queryRawUnsafe'), make('unsafe'), make('query')],
      ...[make('raw', { isTransaction: true }), make('executeQuery', { isTransaction: true })],
    ])
      expect(await completeIn(tx, COMPLETION)).toBe(true);
  });
});

describe('what is no transaction is refused with what to pass, and asked nothing', () => {
  it.each<[string, object, string]>([
    ['a PrismaClient', { $queryRawUnsafe: no, $connect: no }, PRISMA],
    ['a database of Drizzle', drizzle('PgDatabase', { execute: no, query: no }), DRIZZLE],
    ['a database of Drizzle that cannot execute', drizzle('PgDatabase', { rollback: no }), DRIZZLE],
    ['Drizzle on neon()', drizzle('NeonHttpDatabase', { execute: no, rollback: no }), NEON],
    ['a database of Kysely', { executeQuery: no, isTransaction: false }, KYSELY],
    ['a database of Kysely that does not say', { executeQuery: no }, KYSELY],
    ['a Knex', Object.assign(() => no(), { raw: no, isTransaction: false }), KNEX],
    ['a Knex that does not say', { raw: no }, KNEX],
    ['neon()', Object.assign(() => no(), { unsafe: no, transaction: no, query: no }), NEON],
    ['the sql of postgres.js', Object.assign(() => no(), { unsafe: no, begin: no }), POSTGRES_JS],
    ['a DataSource of TypeORM', { query: no, createQueryRunner: no, transaction: no }, TYPEORM],
    ['a manager without a runner', { query: no, queryRunner: undefined }, TYPEORM],
    [
      'a manager whose transaction ended',
      { query: no, queryRunner: { isTransactionActive: false } },
      TYPEORM,
    ],
    ['a runner whose transaction ended', { query: no, isTransactionActive: false }, TYPEORM],
    [
      'a runner whose transaction ended, of a manager',
      { query: no, isTransactionActive: false, queryRunner: { isTransactionActive: true } },
      TYPEORM,
    ],
    ['a PGlite', { query: no, exec: no, transaction: no }, DRIZZLE],
    ['a Pool of pg', { query: no, totalCount: 0 }, POOL],
    [
      'an object without methods',
      { query: 'a text' },
      'expected a transaction of a Postgres client',
    ],
  ])('%s', async (_name, client, mistake) => {
    await expect(completeIn(client, COMPLETION)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringMatching(/^completeIn: [^]*\. See http/),
    });
    await expect(completeIn(client, COMPLETION)).rejects.toThrow(`completeIn: ${mistake}. See `);
  });
});
