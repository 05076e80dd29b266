import { describe, expect, it, jest } from '@jest/globals';
import { checkClient, isUndefinedTable, rowsOf, type PostgresClient } from '../src/client.ts';

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

describe('a missing table', () => {
  it.each<[string, unknown, boolean]>([
    ['by its code', { code: '42P01' }, true],
    ['by the code in a text', new Error('Code: `42P01`. Message: `relation`'), true],
    ['not by another code', { code: '42P02' }, false],
    ['not by the code of what is no error', '42P01', false],
    ['not without an error', undefined, false],
    ['not where the cause is another error', wrapped({ code: '08006' }, 1), false],
    ['in five other errors', wrapped({ code: '42P01' }, 5), true],
    ['not deeper', wrapped({ code: '42P01' }, 6), false],
  ])('is known %s', (_how, error, isKnown) => {
    expect(isUndefinedTable(error)).toBe(isKnown);
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
