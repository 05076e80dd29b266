import { createHash } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { checkClient, isUndefinedTable, type PostgresClient, rowsOf } from '../src/client.ts';
import {
  createPgBossWorker,
  migrationSql,
  type PgBossClient,
  pgBossDeadJobs,
  pgBossQueue,
  postgresStore,
} from '../src/index.ts';
import { preparing } from '../src/prepared.ts';

const NO_ROWS = 'The Postgres client gave no rows. Pass a Pool of pg, or another client like it.';
const replying = (reply: unknown) => ({
  query: jest.fn((_text: string, _values?: unknown[]) => Promise.resolve(reply)),
});
const rows = (reply: unknown, columns: ('id' | 'status')[] = ['id', 'status']) =>
  rowsOf<{ id: string; status: string }>(replying(reply), 'SELECT', [], columns);

describe('the rows of a statement', () => {
  const row = { id: 'a', status: 'done' };

  it('are asked for once, with the text and its values', async () => {
    const client = replying({ rows: [] });
    await rowsOf(client, 'SELECT $1', ['a', 5], []);
    await rowsOf(client, 'SELECT 1', undefined, []);
    expect(client.query.mock.calls).toEqual([
      ['SELECT $1', ['a', 5]],
      ['SELECT 1', undefined],
    ]);
  });

  it.each<[string, unknown[]]>([
    ['no row', []],
    ['a row', [row]],
    ['rows with more columns', [row, { ...row, attempt: 1 }]],
    ['a row without a value', [{ id: undefined, status: null }]],
  ])('are taken in an object, or as they are: %s', async (_what, reply) => {
    expect(await rows({ rows: reply })).toBe(reply);
    expect(await rows(reply)).toBe(reply);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['an object', {}],
    ['a count', { rows: 1 }],
    ['a list as rows of another client', { rows: [['a', 'done']] }],
    ['rows and their number', [[row], 1]],
    ['a row that lacks a column', [row, { id: 'b' }]],
    ['null in place of a row', [row, null]],
  ])('are not believed to be there: %s', async (_what, reply) => {
    await expect(rows(reply)).rejects.toEqual(new Error(NO_ROWS));
  });
});

describe('an error of the client', () => {
  const failing = (error: unknown): PostgresClient => ({
    query: () => {
      throw error;
    },
  });

  it('is passed on as it is', async () => {
    const error = Object.assign(new Error('down'), { code: '08006' });
    await expect(rowsOf(failing(error), 'SELECT', [], [])).rejects.toBe(error);
  });

  it('says what to do if the tables are missing', async () => {
    const error = Object.assign(new Error('relation missing'), { code: '42P01' });
    const rejected = await rowsOf(failing(error), 'SELECT', [], []).catch((one: unknown) => one);
    expect(rejected).toEqual(
      new Error('The tables of the store are missing. Run `await store.migrate()` once.'),
    );
    expect((rejected as Error).cause).toBe(error);
  });
});

/** An error in so many others. */
const wrapped = (error: unknown, times: number): unknown =>
  times === 0 ? error : wrapped(new Error('Failed query', { cause: error }), times - 1);

/** A Pool of pg, as far as it is told by its count and its methods. */
function pool(refusal?: Error) {
  const query = jest.fn((statement: Statement, values?: unknown[]) => {
    if (typeof statement !== 'string' && refusal !== undefined) return Promise.reject(refusal);
    const text = typeof statement === 'string' ? statement : statement.text;
    return Promise.resolve(
      answer(
        isVersion(text)
          ? VERSION
          : typeof values?.[0] === 'string' && values[0].startsWith('[')
            ? {}
            : true,
      ),
    );
  });
  const client = Object.assign({}, { totalCount: 0, connect: query, query });
  return { client: client as unknown as PostgresClient, query };
}
const named = (query: jest.Mock<(statement: Statement) => unknown>) =>
  query.mock.calls.map(([statement]) =>
    typeof statement === 'string' ? undefined : statement.name,
  );

describe('a prepared statement', () => {
  it('has a name that comes from its text, each time the same', async () => {
    const { client, query } = pool();
    const store = postgresStore(client, { logger });
    await store.extend('a', 't', 5);
    await store.extend('b', 't', 5);
    const [version, first, second] = query.mock.calls.map(([statement]) => statement);
    expect(typeof version).toBe('string');
    const { text, name } = first as { text: string; name: string };
    const hash = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
    expect(name).toBe(`call-webhooks ${hash.slice(0, 40)}`); // Postgres would cut it after 63
    expect(second).toEqual({ name, text, values: ['b', 't', 5] });
  });

  it('is not sought for ever in an error that is its own cause', () => {
    const error = new Error('down');
    error.cause = error;
    expect(isUndefinedTable(error)).toBe(false);
  });
});

describe('a client', () => {
  const some = () => undefined;
  const check = (client: unknown) => () => {
    checkClient('postgresStore', client as PostgresClient);
  };
  const orm = 'this is an ORM, whose query() gives no plain rows. Pass a Pool of pg';
  const any = 'expected one with query(text, values), such as a Pool of pg';
  it.each<[string, unknown, string]>([
    ['a promise', { then: some, query: some }, 'this is a promise. Await it first'],
    [
      'postgres.js',
      Object.assign(() => undefined, { unsafe: some }),
      'this is postgres.js. Pass { query: (text, values) => sql.unsafe(text, values) }',
    ],
    ['TypeORM', { query: some, createQueryRunner: some }, orm],
    ['Sequelize', { query: some, define: some, authenticate: some }, orm],
    [
      'Prisma',
      { query: some, $queryRawUnsafe: some },
      'this is Prisma. Pass a Pool of pg, or { query: (text, values = []) => prisma.$queryRawUnsafe(text, ...values) }',
    ],
    ['Drizzle', { query: {}, select: some }, any],
    ['null', null, any],
  ])('that is none is refused with what to pass: %s', (_name, client, mistake) => {
    expect(check(client)).toThrow(`Invalid client of postgresStore: ${mistake}.`);
  });

  it.each<[string, object]>([
    ['only query()', { query: some }],
    ['unsafe(), too: Neon over HTTP', { query: some, unsafe: some }],
    ['define()', { query: some, define: some }],
    ['authenticate()', { query: some, authenticate: some }],
  ])('is taken with %s', (_what, client) => {
    expect(check(client)).not.toThrow();
  });
});

type Statement = string | { name: string; text: string };

/** A Pool of pg, as far as it is told by its count. */
const pool = (run: (statement: Statement) => unknown = () => ({ rows: [] })) => ({
  totalCount: 0,
  query: jest.fn(async (statement: Statement, _values?: unknown[]) =>
    Promise.resolve(run(statement)),
  ),
});

/** It does so with every statement that has a name. */
const refusing = (error: unknown) =>
  pool((statement) => {
    if (typeof statement !== 'string') throw error;
    return { rows: ['unnamed'] };
  });

const nameOf = (text: string) =>
  `call-webhooks ${createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex').slice(0, 40)}`;
const unknown = () => Object.assign(new Error('no such statement'), { code: '26000' });

describe('a prepared statement', () => {
  it('has a name that comes from its text, each time the same', async () => {
    const client = pool((statement) => statement);
    const prepared = preparing(client);
    const statement = { name: nameOf('SELECT $1'), text: 'SELECT $1', values: ['a'] };
    expect(await prepared.query('SELECT $1', ['a'])).toEqual(statement);
    await prepared.query('SELECT $1', ['b']);
    await prepared.query('SELECT 1');
    expect(client.query.mock.calls).toStrictEqual([
      [statement],
      [{ ...statement, values: ['b'] }],
      [{ name: nameOf('SELECT 1'), text: 'SELECT 1' }],
    ]);
    expect(statement.name).toHaveLength(54); // Postgres would cut it after 63
  });

  it('is what a Client of pg gets, too: it has parameters of its connection', async () => {
    const { query } = pool();
    await preparing({ query, connectionParameters: {} } as never).query('SELECT 1');
    expect(query).toHaveBeenCalledWith({ name: nameOf('SELECT 1'), text: 'SELECT 1' });
  });

  it.each<[string, object]>([
    ['any other', {}],
    ['one whose count is none', { totalCount: 'all' }],
  ])('is nothing for the client: %s', (_what, more) => {
    const client = { ...more, query: () => Promise.resolve([]) };
    expect(preparing(client)).toBe(client);
  });

  it.each(['26000', '42P05'])(
    'is run without its name where the connection is another one (%s), as are all after it',
    async (code) => {
      const client = refusing(Object.assign(new Error('not prepared'), { code }));
      const prepared = preparing(client);
      expect(await prepared.query('SELECT $1', ['a'])).toEqual({ rows: ['unnamed'] });
      await prepared.query('SELECT $1', ['b']);
      expect(client.query.mock.calls.slice(1)).toStrictEqual([
        ['SELECT $1', ['a']],
        ['SELECT $1', ['b']],
      ]);
    },
  );

  it.each([
    ['a server that refuses it', { code: '23505' }],
    ['a network that fails', {}],
  ])('is not run again after another error, and keeps its name: %s', async (_what, more) => {
    const error = Object.assign(new Error('down'), more);
    const client = refusing(error);
    const prepared = preparing(client);
    for (let i = 0; i < 2; i++) await expect(prepared.query('SELECT 1')).rejects.toBe(error);
    const named = [{ name: nameOf('SELECT 1'), text: 'SELECT 1' }];
    expect(client.query.mock.calls).toEqual([named, named]);
  });

  it('has no name only on the client that refused it', async () => {
    await preparing(refusing(unknown())).query('SELECT 1');
    const other = pool();
    await preparing(other).query('SELECT 1');
    expect(other.query).toHaveBeenCalledWith({ name: nameOf('SELECT 1'), text: 'SELECT 1' });
  });

  it('that fails without its name as well rejects with the last error', async () => {
    const error = new Error('down');
    const client = pool((statement) => {
      throw typeof statement === 'string' ? error : unknown();
    });
    await expect(preparing(client).query('SELECT 1')).rejects.toBe(error);
  });
});

const TABLES = ['webhook_ids', 'events', 'groups', 'cursors', 'dead_letters'];

describe('the statement of a migration', () => {
  it.each([
    [undefined, 'call_webhooks'],
    ['mine', 'mine'],
  ])('creates all tables in their schema: %p is %s', (schema, name) => {
    const text = schema === undefined ? migrationSql() : migrationSql({ schema });
    expect(text).toContain(`CREATE SCHEMA ${name};`);
    for (const table of TABLES) expect(text).toContain(`CREATE TABLE ${name}.${table} (`);
    expect(text).toContain(
      `pg_advisory_xact_lock(hashtext('call-webhooks migrate'), hashtext('${name}'))`,
    );
  });

  it('is one statement, to be atomic with every client', () => {
    expect(migrationSql()).toMatch(/^DO \$migration\$\nBEGIN\n[^]*END\n\$migration\$$/);
    expect(migrationSql().split('$migration$')).toHaveLength(3);
  });

  it.each(['a', '_1', 'x'.repeat(63)])('may be of schema %s', (schema) => {
    expect(migrationSql({ schema })).toContain(`CREATE SCHEMA ${schema};`);
  });

  it.each(['', '1a', 'Calls', 'aB', 'a b', 'a"b', "a'", ' a', 'a;', 'x'.repeat(64)])(
    'may not be of schema %j, which would need quotes',
    (schema) => {
      expect(() => migrationSql({ schema })).toThrow(
        'Invalid options of migrationSql: schema: expected up to 63 lower-case letters, digits and _.',
      );
    },
  );
});

const some = () => Promise.resolve();
const claim = { webhookId: 'w', replayUntil: Date.now() + 600_000, leaseMs: 60_000, token: 't' };
const refusal = (mistake: string) =>
  expect.objectContaining({
    code: 'invalid-options',
    message: expect.stringContaining(mistake),
  }) as unknown as Error;

/** What has all methods that are used of pg-boss. */
const boss = Object.fromEntries(
  ['createQueue', 'send', 'getJobById', 'getQueue', 'fetch', 'complete', 'fail', 'getDb'].map(
    (name) => [name, some],
  ),
) as unknown as PgBossClient;

describe('what is no Postgres client', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'expected one with query(text, values)'],
    ['a URL', 'postgres:///calls', 'expected one with query(text, values)'],
    ['a promise of a client', Promise.resolve({ query: some }), 'Await it first'],
    ['postgres.js', Object.assign(() => undefined, { unsafe: some }), 'sql.unsafe(text, values)'],
    ['Drizzle', { query: {}, select: some }, 'expected one with query(text, values)'],
    ['a DataSource of TypeORM', { query: some, createQueryRunner: some }, 'an ORM'],
    ['Sequelize', { query: some, define: some, authenticate: some }, 'an ORM'],
    ['Prisma', { $queryRawUnsafe: some }, 'this is Prisma'],
  ])('is refused at once: %s', (_name, client, mistake) => {
    expect(() => postgresStore(client as PostgresClient)).toThrow(refusal(mistake));
  });

  it('is never believed to hold a lease: replies of another shape are errors', async () => {
    for (const reply of [[[], 0], [[{ held: 1 }], 1], {}, { rows: [[1]] }, 5, undefined]) {
      const store = postgresStore({ query: () => Promise.resolve(reply) });
      await expect(store.complete('event', 'token')).rejects.toThrow();
      await expect(store.admit(claim)).rejects.toThrow();
    }
  });

  it.each(['fetch', 'complete', 'createQueue'])("is refused without pg-boss's %s()", (missing) => {
    const broken = { ...boss, [missing]: undefined };
    expect(() => pgBossQueue(broken)).toThrow(refusal(`no ${missing}()`));
    expect(() => createPgBossWorker(broken, {})).toThrow(refusal('pg-boss 10'));
  });

  it('is refused by its name if it is pg-boss 11, and 12 is not', () => {
    const eleven = { ...boss, supervise: some };
    const twelve = { ...eleven, findJobs: some };
    for (const create of [
      pgBossQueue,
      pgBossDeadJobs,
      (of: PgBossClient) => createPgBossWorker(of, {}),
    ]) {
      expect(() => create(eleven)).toThrow(refusal('this is pg-boss 11'));
      expect(() => create(eleven)).toThrow(refusal('npm install pg-boss@12'));
    }
    for (const supported of [boss, twelve]) expect(() => pgBossQueue(supported)).not.toThrow();
  });
});

describe('invalid options', () => {
  const client = { query: some };

  it('are refused when a store, queue or worker is created', () => {
    const cases: [(options: object) => unknown, Record<string, unknown>][] = [
      [
        (options) => postgresStore(client, options),
        { rememberFor: NaN, schema: 'a b', now: 5, x: 1 },
      ],
      [
        (options) => pgBossQueue(boss, options),
        {
          queue: '',
          deadLetterQueue: 5,
          maxRuns: 0,
          backoff: { initialDelay: 5, maxDelay: 6 },
          expireIn: Infinity,
          retainFor: -1,
          retryDelay: 5,
        },
      ],
      [
        (options) => createPgBossWorker(boss, options),
        { queue: '', concurrency: 1.5, pollEvery: 0, logger: {}, on: { 'call:x': some } },
      ],
      [(options) => migrationSql(options), { schema: 'a"b' }],
    ];
    for (const [create, invalid] of cases)
      for (const [name, value] of Object.entries(invalid))
        expect(() => create({ [name]: value })).toThrow(refusal(name));
    expect(() => createPgBossWorker(boss, { maxRuns: 5 as never })).toThrow(
      refusal('maxRuns: it is an option of pgBossQueue'),
    );
    for (const rememberFor of [599_999, Infinity])
      expect(() => postgresStore(client, { rememberFor })).toThrow(refusal('rememberFor'));
  });
});
