import { expect, it } from '@jest/globals';
import * as callbacks from 'mysql2';
import { createPool } from 'mysql2/promise';
import { mysqlDeadLetters, mysqlStore, type MysqlPool } from '../src/index.ts';

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
