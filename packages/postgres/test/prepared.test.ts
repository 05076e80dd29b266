import { createHash } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { preparing } from '../src/prepared.ts';

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
