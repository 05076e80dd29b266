import { describe, expect, it } from '@jest/globals';
import { completeIn } from '../src/transaction.ts';

const COMPLETION = {
  ...{ version: 1, id: "it's", database: 'a`b', prefix: 'p_' },
  ...{ key: "call-1'", token: 'token "1"' },
};
const hex = (text: string) => `x'${Buffer.from(text).toString('hex')}'`;
const SAVEPOINT = ['SAVEPOINT call_webhooks', 'RELEASE SAVEPOINT call_webhooks'];
const UPDATE = `UPDATE \`a\`\`b\`.p_events SET state = 'done' WHERE event_key = ${hex("call-1'")} AND token = ${hex('token "1"')}`;

type Run = (text: string, ...more: unknown[]) => unknown;

/** Keeps what each method was called with. @param answer what the server says of the event, or throws */
function recorded(answer: (text: string) => unknown = () => 'held') {
  const calls: [method: string, text: string, ...more: unknown[]][] = [];
  /** @param rows what the client makes of a row */
  const method =
    (name: string, rows: (row: object) => unknown): Run =>
    async (text, ...more) => {
      calls.push([name, text, ...more]);
      const found = await answer(text);
      return rows({ status: text.startsWith('SELECT') ? found : 'nothing' });
    };
  return { calls, method };
}

/** The transactions of each client, and the methods that read and write in them. */
const CLIENTS: Record<
  string,
  {
    make: (method: (name: string, rows: (row: object) => unknown) => Run) => object;
    reads: string;
    writes: string;
  }
> = {
  'mysql2/promise': {
    make: (method) => ({ query: method('query', (row) => [[row], []]), execute: () => 'no' }),
    ...{ reads: 'query', writes: 'query' },
  },
  'mysql2 with callbacks': {
    make: (method) => ({
      query: () => 'no',
      promise: () => ({ query: method('query', (row) => [[row], []]) }),
    }),
    ...{ reads: 'query', writes: 'query' },
  },
  Prisma: {
    make: (method) => ({
      $queryRawUnsafe: method('$queryRawUnsafe', (row) => [row]),
      $executeRawUnsafe: method('$executeRawUnsafe', () => 0),
      query: () => 'no',
    }),
    ...{ reads: '$queryRawUnsafe', writes: '$executeRawUnsafe' },
  },
  Kysely: {
    make(method) {
      const run = method('executeQuery', (row) => ({ rows: [row] }));
      return {
        executeQuery: (query: { sql: string }) => run(query.sql, query),
        isTransaction: true,
      };
    },
    ...{ reads: 'executeQuery', writes: 'executeQuery' },
  },
  Knex: {
    make: (method) =>
      Object.assign(() => 'no', { raw: method('raw', (row) => [[row], []]), query: () => 'no' }),
    ...{ reads: 'raw', writes: 'raw' },
  },
  Sequelize: {
    make: (method) => ({
      sequelize: { query: method('sequelize.query', (row) => [[row], [row]]) },
      ...{ commit: () => 'no', rollback: () => 'no' },
    }),
    ...{ reads: 'sequelize.query', writes: 'sequelize.query' },
  },
  TypeORM: {
    make: (method) => ({ query: method('query', (row) => [row]), release: () => 'no' }),
    ...{ reads: 'query', writes: 'query' },
  },
  Drizzle: {
    make: (method) => ({ query: {}, execute: method('execute', (row) => [[row], []]) }),
    ...{ reads: 'execute', writes: 'execute' },
  },
  'a function of the user': {
    make: (method) => ({ query: method('query', (row) => ({ rows: [Object.values(row)] })) }),
    ...{ reads: 'query', writes: 'query' },
  },
};

describe('an event is completed in the transaction of', () => {
  it.each(Object.keys(CLIENTS))('%s', async (name) => {
    const { make, reads, writes } = CLIENTS[name]!;
    const { calls, method } = recorded();
    const tx = make(method);
    expect(await completeIn(tx, COMPLETION)).toBe(true);
    expect(calls.map(([by, text]) => [by, text])).toEqual([
      ...SAVEPOINT.map((text) => [writes, text]),
      [reads, expect.stringMatching(/^SELECT COALESCE.*FOR UPDATE$/s)],
      [writes, UPDATE],
    ]);
    const select = calls[2]![1];
    for (const part of [
      ...[`WHERE event_key = ${hex("call-1'")}`, `token <> ${hex('token "1"')}`],
      ...[`id <> ${hex("it's")}`, 'FROM `a``b`.p_events', 'FROM `a``b`.p_schema_version'],
    ])
      expect(select).toContain(part);
    // As the client's own functions would be called.
    const more = calls.map(([, , ...rest]) => rest);
    if (name === 'Sequelize') expect(more).toEqual(Array(4).fill([{ transaction: tx }]));
    else if (name === 'Kysely')
      expect(more[0]).toEqual([
        {
          ...{ sql: SAVEPOINT[0], parameters: [], queryId: { queryId: 'call-webhooks' } },
          query: { kind: 'RawNode', sqlFragments: [SAVEPOINT[0]], parameters: [] },
        },
      ]);
    else expect(more).toEqual(Array(4).fill([]));
  });
});

/** Completes the event on a connection whose server answers like this. */
async function complete(answer: (text: string) => unknown) {
  const { calls, method } = recorded(answer);
  const query = method('query', (row) => [[row], []]);
  const end = await completeIn({ query }, COMPLETION).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { end, texts: calls.map(([, text]) => text) };
}
const misuse = (mistake: string, cause?: unknown) => ({
  error: expect.objectContaining({
    ...{ name: 'WebhookError', code: 'invalid-options' },
    ...(cause !== undefined && { cause }),
    message: expect.stringMatching(
      new RegExp(`^completeIn: ${mistake}\\. See .*exactly-once\\.html#your-own-database$`),
    ),
  }),
});

describe('the server says that', () => {
  it.each([
    ['the lease is held', 'held', { value: true }, 4],
    ['it was completed before', 'done', { value: true }, 3],
    ['the lease was lost', 'lost', { value: false }, 3],
    ['it is another database', 'elsewhere', misuse('this connection is to a database that .*'), 3],
    ['a newer release made the tables', 'newer', misuse('a newer release of .* Install it .*'), 3],
    [
      'nothing',
      undefined,
      { error: new Error('completeIn: the client of the transaction returned no answer.') },
      3,
    ],
    [
      'something else',
      'Held',
      { error: new Error('completeIn: the client of the transaction returned no answer.') },
      3,
    ],
  ])('%s', async (_what, status, expected, statements) => {
    const { end, texts } = await complete(() => status);
    expect(end).toEqual(expected);
    expect(texts).toHaveLength(statements);
  });

  const failing = (part: string, error: unknown) => (text: string) => {
    if (text.startsWith(part)) throw error;
    return 'held';
  };
  const error = (more: object, message = 'no') => Object.assign(new Error(message), more);

  it.each([
    ['its number', error({ errno: 1305 })],
    ['the number in its cause', error({ cause: error({ errno: 1305 }) })],
    ['its text', error({ code: 'P2010' }, 'SAVEPOINT call_webhooks does not exist')],
  ])('there is no transaction, by %s', async (_what, thrown) => {
    const { end, texts } = await complete(failing('RELEASE', thrown));
    expect(end).toEqual(misuse('this is in no transaction. Pass a connection .*', thrown));
    expect(texts).toEqual(SAVEPOINT);
  });

  it.each([
    ['the tables are missing', 1146, 'this connection is to a database that .*'],
    ['the lease was renewed meanwhile', 1020, 'the lease was renewed after .* Use READ COMMITTED'],
  ])('%s', async (_what, errno, mistake) => {
    const thrown = error({ driverError: { errno } });
    const { end, texts } = await complete(failing('SELECT', thrown));
    expect(end).toEqual(misuse(mistake, thrown));
    expect(texts).toHaveLength(3);
  });

  it.each(['SAVEPOINT', 'RELEASE', 'SELECT', 'UPDATE'])(
    'it failed otherwise in %s: the error is its own',
    async (part) => {
      const thrown = error({ errno: 1205 });
      expect((await complete(failing(part, thrown))).end).toEqual({ error: thrown });
    },
  );
});

describe('what is no transaction is refused', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'expected a transaction of a MySQL client'],
    ['a text', 'BEGIN', 'expected a transaction of a MySQL client'],
    ['an object', {}, 'expected a transaction of a MySQL client'],
    ['a transaction that is none of Sequelize', { commit: () => 1 }, 'expected a transaction of'],
    ['a pool', { getConnection: () => 1, query: () => 1 }, 'a pool runs each statement on any'],
  ])('%s', async (_what, tx, mistake) => {
    await expect(completeIn(tx, COMPLETION)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining(`completeIn: ${mistake}`),
    });
  });
});
