import { describe, expect, it, jest } from '@jest/globals';
import { neon } from '@neondatabase/serverless';
import pg from 'pg';
import postgres from 'postgres';
import { postgresStore, type PostgresTransaction } from '../src/index.ts';
import { leasedJob } from '../src/pg-boss-job.ts';
import { completeIn as run, literal, refuseOwnClient } from '../src/transaction.ts';
import { fetchedJob, recordingBoss } from './recording-boss.ts';
import { answer } from './recording-client.ts';

const completeIn = (tx: unknown, completion: { update: string; where: string }) =>
  run(tx, { isHere: 'true', ...completion });

const some = () => Promise.resolve();

describe('transactions', () => {
  const COMPLETION = { update: 'UPDATE events SET done = true', where: 'key = 1 OR key = 2' };
  const DOCS =
    'See https://call-webhooks.github.io/call-webhooks/exactly-once.html#your-own-database';
  const refusal = (mistake: string) => `completeIn: ${mistake}. ${DOCS}`;

  /** A transaction whose statements give these statuses, one after another. */
  function transaction(...replies: string[]) {
    const left = [...replies];
    const query = jest.fn((_text: string) => Promise.resolve({ rows: [{ status: left.shift() }] }));
    return { query, texts: () => query.mock.calls.map(([text]) => text) };
  }

  describe('completing an event in a transaction', () => {
    it.each([
      ['done', true],
      ['lost', false],
    ])('takes one statement where the transaction has written before: %s', async (status, done) => {
      const tx = transaction(status);
      expect(await completeIn(tx, COMPLETION)).toBe(done);
      expect(tx.texts()).toEqual([expect.stringContaining(COMPLETION.update)]);
    });

    it.each([
      ['done', true],
      ['lost', false],
    ])('is tried again once the transaction has an id: %s', async (status, done) => {
      const tx = transaction('no id', '42', status);
      expect(await completeIn(tx, COMPLETION)).toBe(done);
      const [first, second, third] = tx.texts();
      expect(second).toBe('SELECT txid_current()::text AS id');
      expect(third).toBe(first);
      expect(tx.query).toHaveBeenCalledTimes(3);
    });

    it('is refused where each statement is a transaction by itself', async () => {
      const tx = transaction('no id', '42', 'no id', 'done');
      const rejected = await completeIn(tx, COMPLETION).catch((error: unknown) => error);
      expect(rejected).toMatchObject({
        code: 'invalid-options',
        message: refusal('this connection is not in a transaction. Run BEGIN on it first'),
      });
      expect(rejected).not.toHaveProperty('cause');
      expect(tx.query).toHaveBeenCalledTimes(3);
    });

    it.each<[string, unknown]>([
      ['an object with rows', { rows: [{ Status: 'done' }] }],
      ['the rows', [{ s: 'done' }]],
      ['a row as a list', { rows: [['done']] }],
    ])('takes the one value that a client gives, under any name: %s', async (_what, reply) => {
      expect(await completeIn({ query: () => Promise.resolve(reply) }, COMPLETION)).toBe(true);
    });

    it.each<[string, unknown]>([
      ['nothing', undefined],
      ['no rows', []],
      ['an object without rows', { status: 'done' }],
      ['two rows', [{ status: 'done' }, { status: 'done' }]],
      ['a text as long as one row', { rows: 'd' }],
    ])('fails if the client gives %s', async (_what, reply) => {
      const completing = completeIn({ query: () => Promise.resolve(reply) }, COMPLETION);
      await expect(completing).rejects.toEqual(
        new Error('completeIn: the client of the transaction returned no rows.'),
      );
    });

    it('is refused where the tables are those of another database', async () => {
      await expect(completeIn(transaction('elsewhere'), COMPLETION)).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining('this connection is to a database that does not contain'),
      });
    });

    it('says why a strict transaction failed, with the error of the client', async () => {
      const cause = Object.assign(new Error('could not serialize access'), { code: '40001' });
      const completing = completeIn({ query: () => Promise.reject(cause) }, COMPLETION);
      await expect(completing).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining('Use READ COMMITTED'),
        cause,
      });
    });

    it.each(['elsewhere, or so', 'Done', '1'])('believes no other answer: %s', async (status) => {
      await expect(completeIn(transaction(status), COMPLETION)).rejects.toThrow(
        'returned no answer',
      );
    });

    it('rejects with the error of the client', async () => {
      const error = Object.assign(new Error('Code: `42P01`, or 40001'), { code: '55P03' });
      const completing = completeIn({ query: () => Promise.reject(error) }, COMPLETION);
      await expect(completing).rejects.toBe(error);
    });

    it('says that the tables are in another database, with the error of the client', async () => {
      const cause = Object.assign(new Error('relation missing'), { code: '42P01' });
      const completing = completeIn({ query: () => Promise.reject(cause) }, COMPLETION);
      await expect(completing).rejects.toMatchObject({
        code: 'invalid-options',
        message: refusal(
          'this connection is to a database that does not contain the store or queue. Pass a transaction in their database',
        ),
        cause,
      });
    });

    it.each([undefined, null, 'BEGIN', {}])('refuses %p', async (tx) => {
      await expect(completeIn(tx, COMPLETION)).rejects.toMatchObject({
        code: 'invalid-options',
        message: refusal(
          'expected a transaction of a Postgres client. For any other client, pass { query: (text) => … } with a function that runs a statement in the transaction and returns its rows',
        ),
      });
    });

    it.each<[string, object, string]>([
      [
        'the em of MikroORM',
        { getTransactionContext: some, execute: some, getConnection: some },
        'this is the EntityManager of MikroORM. Pass { query: (text) => em.execute(text) } with the em of em.transactional(async (em) => …)',
      ],
      [
        'the transaction of Sequelize',
        { sequelize: {}, commit: some, rollback: some },
        "this is the transaction of Sequelize. Pass { query: (text) => sequelize.query(text, { transaction: t, type: 'SELECT' }) }",
      ],
    ])('refuses %s, with what to pass', async (_name, tx, message) => {
      await expect(completeIn(tx, COMPLETION)).rejects.toMatchObject({ message: refusal(message) });
    });
  });

  describe('the client of the store itself', () => {
    it('is refused, with what to do', () => {
      expect(() => refuseOwnClient({ query: () => undefined })).toThrow(
        refusal(
          'this is the connection of the store itself, whose other calls would be in the transaction. Give the store a pool',
        ),
      );
    });

    it('is refused as a pool if it is one', () => {
      expect(() => refuseOwnClient({ query: () => undefined, totalCount: 0 })).toThrow(
        'completeIn: a pool runs each statement on any of its connections.',
      );
    });
  });

  describe('a text in a statement', () => {
    it.each([
      ['', ''],
      ['a', '61'],
      ["'; DROP TABLE events; --", '273b2044524f50205441424c45206576656e74733b202d2d'],
      ['\n\\', '0a5c'],
      ['é😀', 'c3a9f09f9880'],
    ])('is the hexadecimal form of its UTF-8: %j', (text, hex) => {
      expect(literal(text)).toBe(`convert_from(decode('${hex}', 'hex'), 'UTF8')`);
    });
  });
});

describe('the drivers', () => {
  const COMPLETION = { update: 'UPDATE events SET done = true', where: 'true' };
  const reply = (_query?: unknown) => Promise.resolve([{ status: 'done' }]);
  const no = () => Promise.reject(new Error('not of this client'));

  /** An object of Drizzle, by its class. */
  function drizzle(kind: unknown, methods: object): object {
    const constructor = Object.assign(() => kind, { [Symbol.for('drizzle:entityKind')]: kind });
    return { constructor, ...methods };
  }

  const NEON =
    'Neon over HTTP does not support transactions that wait for your code. Use its Pool, over WebSockets';
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
      [
        'a database of Drizzle that cannot execute',
        drizzle('PgDatabase', { rollback: no }),
        DRIZZLE,
      ],
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
        'expected a transaction of a Postgres client. For any other client, pass { query: (text) => … } with a function that runs a statement in the transaction and returns its rows',
      ],
    ])('%s', async (_name, client, mistake) => {
      await expect(completeIn(client, COMPLETION)).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringMatching(/^completeIn: [^]*\. See http/),
      });
      await expect(completeIn(client, COMPLETION)).rejects.toThrow(`completeIn: ${mistake}. See `);
    });
  });
});

describe('the job of a run, in a transaction of its handler', () => {
  const JOB = fetchedJob({ id: '00000000-0000-8000-8000-000000000001', retryCount: 7 });

  function transaction(executeSql: () => unknown = () => undefined) {
    const { boss, callsOf } = recordingBoss({ executeSql });
    const queues = { boss, queue: 'calls', deadQueue: 'calls-dead', schema: 'mine' };
    return { ...leasedJob(JOB, 3, queues).transaction!, callsOf };
  }

  const hex = (text: string) => Buffer.from(text).toString('hex');

  it('is completed by its name, its id and its count, in the schema of pg-boss', async () => {
    const query = jest.fn((_text: string) => Promise.resolve({ rows: [{ status: 'done' }] }));
    expect(await transaction().completeIn({ query })).toBe(true);
    expect(query).toHaveBeenCalledTimes(1);
    const text = query.mock.calls[0]![0];
    expect(text).toContain(
      "UPDATE mine.job SET state = 'completed', completed_on = now(), output = NULL, data = data - 'body' - 'escaped' - 'trace' WHERE (",
    );
    expect(text).toContain(
      `(name = convert_from(decode('${hex('calls')}', 'hex'), 'UTF8') AND id = convert_from(decode('${hex(JOB.id)}', 'hex'), 'UTF8')::uuid AND retry_count = 7 AND state IN ('active', 'completed'))`,
    );
  });

  it.each([true, false])('is completed only if the server says so: %p', async (done) => {
    const { isCompleted, callsOf } = transaction(() => answer(done));
    expect(await isCompleted()).toBe(done);
    expect(callsOf('executeSql')).toEqual([
      [expect.stringContaining('FROM mine.job'), ['calls', JOB.id, 7]],
    ]);
  });

  it.each([{ rows: [] }, { rows: [{ done: true }] }, [], answer('t'), answer(null)])(
    'is unknown where the client says something else: %j',
    async (reply) => {
      await expect(transaction(() => reply).isCompleted()).rejects.toThrow();
    },
  );

  it('is unknown while Postgres does not answer', async () => {
    const error = new Error('down');
    const { isCompleted } = transaction(() => {
      throw error;
    });
    await expect(isCompleted()).rejects.toBe(error);
  });
});

describe('completeIn', () => {
  const refusal = (mistake: string) =>
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringContaining(mistake),
    });

  const store = postgresStore({ query: () => Promise.reject(new Error('not called')) });
  it.each<[string, unknown, string]>([
    ['neon()', neon('postgres://user:password@host.test/db'), 'Neon over HTTP'],
    ['a Pool of pg', new pg.Pool(), 'a pool runs each statement on any of its connections'],
    ['sql of postgres.js', postgres(), 'sql of sql.begin'],
  ])('refuses what has no transaction: %s', async (_name, tx, mistake) => {
    const completing = store.completeIn(tx as PostgresTransaction, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal(mistake));
  });

  it('refuses the pool of the store as any other pool', async () => {
    const pool = new pg.Pool();
    const completing = postgresStore(pool).completeIn(pool, 'key', 'token');
    await expect(completing).rejects.toEqual(
      refusal('Pass the client of pool.connect() that ran BEGIN'),
    );
  });

  it('refuses the only connection of the store', async () => {
    const client = { query: () => Promise.reject(new Error('not called')) };
    const completing = postgresStore(client).completeIn(client, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal('the connection of the store itself'));
  });

  it.each([
    ['pg', Object.assign(new Error('relation missing'), { code: '42P01' })],
    [
      'Drizzle',
      new Error('Failed query', { cause: Object.assign(new Error(), { code: '42P01' }) }),
    ],
    ['Prisma', Object.assign(new Error('Raw query failed'), { meta: { code: '42P01' } })],
  ])('says that a transaction is on another database: %s', async (_client, cause) => {
    const completing = store.completeIn({ query: () => Promise.reject(cause) }, 'key', 'token');
    await expect(completing).rejects.toEqual(refusal('a database that does not contain the store'));
    await expect(completing).rejects.toMatchObject({ cause });
  });

  it('links to the page about transactions', async () => {
    const completing = store.completeIn(new pg.Pool(), 'key', 'token');
    await expect(completing).rejects.toThrow(/exactly-once\.html#your-own-database$/);
  });
});
