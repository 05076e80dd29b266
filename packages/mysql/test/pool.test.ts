import { describe, expect, it, jest } from '@jest/globals';
import * as callbacks from 'mysql2';
import { createPool } from 'mysql2/promise';
import { mysqlDeadLetters, mysqlStore, type MysqlPool } from '../src/index.ts';
import { Connections, errorNumber } from '../src/pool.ts';

const pool = () => createPool({ host: '127.0.0.1', port: 1 });

it('takes the pools of mysql2 and of mysql2/promise', async () => {
  const pools = [pool(), callbacks.createPool({ host: '127.0.0.1', port: 1 })];
  for (const one of pools) {
    const store = mysqlStore(one);
    await expect(store.ping()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(mysqlDeadLetters(one).count()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  }
});

it.each([
  ['a promise', 'this is a promise', Promise.resolve(pool())],
  [
    'one connection',
    'this is one connection',
    { beginTransaction: () => 1, execute: () => Promise.resolve() },
  ],
  [
    'another pool',
    'a pool of another client',
    { getConnection: () => 1, execute: () => Promise.resolve() },
  ],
  ['nothing', 'expected a pool of mysql2', undefined],
  ['a URL', 'expected a pool of mysql2', 'mysql://root@localhost/calls'],
  ['options', 'expected a pool of mysql2', { host: 'localhost' }],
])('refuses %s', (_name, message, given) => {
  for (const create of [mysqlStore, mysqlDeadLetters])
    expect(() => create(given as unknown as MysqlPool)).toThrow(message);
});

it('refuses options that mean nothing', () => {
  for (const prefix of ['', 'Calls_', 'a b', 'a`b', 'x'.repeat(41)])
    expect(() => mysqlStore(pool(), { prefix })).toThrow('prefix: expected');
  expect(() => mysqlStore(pool(), { rememberFor: 1 })).toThrow('rememberFor');
  expect(() => mysqlDeadLetters(pool(), { keepFor: 1 })).toThrow('keepFor');
});

/** A pool whose only connection answers like this, and what was done with it. */
function poolOf(answer: () => unknown, getting = () => Promise.resolve()) {
  const done: unknown[][] = [];
  const by = (name: string) => async (statement: object) => {
    done.push([name, statement]);
    return [await answer(), []];
  };
  const connection = {
    ...{ execute: by('execute'), query: by('query') },
    release: () => void done.push(['release']),
    destroy: () => void done.push(['destroy']),
  };
  const pool = {
    async getConnection() {
      await getting();
      return connection;
    },
    ...{ execute: () => undefined, releaseConnection: () => undefined },
  };
  return { connections: new Connections('the test', pool), done };
}

describe('a connection of the pool', () => {
  const fails = (more: object) => () => {
    throw Object.assign(new Error('no'), more);
  };

  it.each<[string, () => unknown, boolean, string]>([
    ['goes back after an answer', () => [[1]], false, 'release'],
    ['goes back after an error of the server', fails({ sqlState: '40001' }), false, 'release'],
    ['is closed after an error of the network or a time-out', fails({}), false, 'destroy'],
    ['is closed after an answer, if it was changed', () => [[1]], true, 'destroy'],
    ['is closed after an error, if it was changed', fails({ sqlState: '40001' }), true, 'destroy'],
  ])('%s', async (_what, answer, isTainted, end) => {
    const { connections, done } = poolOf(answer);
    await connections.use((run) => run('SELECT 1'), Infinity, isTainted).catch(() => undefined);
    expect(done.map(([what]) => what)).toEqual(['query', end]);
  });

  it.each([
    [49, true],
    [51, false],
  ])('that comes after %d ms of the 100 ms of a call is used: %p', async (took, isUsed) => {
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const { connections, done } = poolOf(
      () => [[7]],
      async () => void (now = took),
    );
    const found = await connections.run('SELECT 7', [], 100).catch(String);
    clock.mockRestore();
    expect(found).toEqual(
      isUsed
        ? [[7]]
        : 'Error: MySQL is busy: a call was not sent, since its answer would have arrived too late.',
    );
    expect(done.map(([what]) => what)).toEqual(isUsed ? ['execute', 'release'] : ['release']);
  });

  it('gets texts as bytes, and is told how to give rows and how long to wait', async () => {
    const { connections, done } = poolOf(() => [[[1, 'a']], { affectedRows: 0 }]);
    expect(await connections.run('CALL x(?, ?, ?)', ['é', 5, null])).toEqual([[1, 'a']]);
    expect(done[0]).toEqual([
      'execute',
      {
        ...{ sql: 'CALL x(?, ?, ?)', values: [Buffer.from('é'), 5, null], timeout: 5_000 },
        ...{ rowsAsArray: true, nestTables: false, namedPlaceholders: false },
        typeCast: expect.any(Function),
      },
    ]);
    const { typeCast } = done[0]![1] as { typeCast(field: object, next: () => string): string };
    expect(typeCast({}, () => 'as it is')).toBe('as it is');
  });
});

it.each<[string, unknown, number | undefined]>([
  ['its own', { errno: 1213, code: 'ER_LOCK_DEADLOCK' }, 1213],
  ['a code of Prisma', { code: 'P2010', meta: { code: '1213' } }, 1213],
  [
    'an adapter of Prisma',
    { meta: { driverAdapterError: { cause: { originalCode: '1305' } } } },
    1305,
  ],
  ['a cause of an adapter', { meta: { driverAdapterError: { cause: { code: 1305 } } } }, 1305],
  ['Sequelize', { parent: { errno: 1020 } }, 1020],
  ['TypeORM', { driverError: { errno: 1146 } }, 1146],
  ['Drizzle', Object.assign(new Error('Failed query'), { cause: { errno: 1644 } }), 1644],
  ['the system', { errno: -111, code: 'ECONNREFUSED' }, undefined],
  ['a small number', { errno: 999 }, undefined],
  ['nothing', undefined, undefined],
])('the number of an error is that of %s', (_what, error, expected) => {
  expect(errorNumber(error)).toBe(expected);
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(errorNumber(circle)).toBeUndefined();
});
