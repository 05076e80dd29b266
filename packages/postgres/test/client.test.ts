import { createHash } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { callBody } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import {
  migrationSql,
  type PostgresClient,
  postgresDeadLetters,
  postgresStore,
} from '../src/index.ts';
import { answer, asksForVersion as isVersion, OF_THESE_TABLES } from './recording-client.ts';

const claim: Claim = {
  ...{ webhookId: 'w', replayUntil: Date.now() + 600_000, leaseMs: 60_000 },
  ...{ key: 'event', token: 't' },
};
const logger = { warn: () => undefined, error: () => undefined };
const ADMITTED = { status: 'admitted', attempt: 1 };

/** A client that gives each value in a shape of its own. */
const shaping = (
  shape: (value: unknown) => unknown,
  value: unknown = ADMITTED,
): PostgresClient => ({
  query: (text) => Promise.resolve(shape(isVersion(text) ? OF_THESE_TABLES : value)),
});

describe('an answer', () => {
  const json = (value: unknown) => JSON.stringify(value);

  it.each<[string, (value: unknown) => unknown]>([
    ['an object with rows, as of pg', (value) => ({ rows: [{ answer: json(value) }] })],
    ["the rows, as of Neon's HTTP driver and postgres.js", (value) => [{ answer: json(value) }]],
    ['rows that are lists', (value) => ({ rows: [[json(value)]] })],
    ['lists alone', (value) => [[json(value)]]],
    ['columns in upper case', (value) => ({ rows: [{ ANSWER: json(value) }] })],
  ])('is taken in any shape: %s', async (_what, shape) => {
    expect(await postgresStore(shaping(shape), { logger }).admit(claim)).toEqual(ADMITTED);
    expect(await postgresStore(shaping(shape, true), { logger }).complete('event', 't')).toBe(true);
    expect(
      await postgresStore(shaping(shape, { cursor: null }), { logger }).loadCursor!('a'),
    ).toBeUndefined();
    expect(await postgresDeadLetters(shaping(shape, [])).get('a')).toBeUndefined();
  });

  it.each<[string, (value: unknown) => unknown]>([
    ['nothing', () => undefined],
    ['a number', () => 5],
    ['no rows', () => ({ rows: [] })],
    ['an empty list', () => []],
    ['a count', () => ({ rows: 1 })],
    ['an object without rows', (value) => ({ answer: json(value) })],
    ['rows and their number', (value) => [[{ answer: json(value) }], 1]],
    ['rows in a list of results', (value) => [{ rows: [{ answer: json(value) }] }]],
    ['two rows', (value) => [{ answer: json(value) }, { answer: json(value) }]],
    ['a row of two columns', (value) => [{ answer: json(value), more: 1 }]],
    ['null in place of a row', () => [null]],
    ['null', () => [{ answer: null }]],
    ['bytes', (value) => [{ answer: Buffer.from(json(value)) }]],
    ['what was parsed before', (value) => [{ answer: value }]],
    ['a text that is no JSON', () => [{ answer: 'yes' }]],
  ])('is never believed to be there, or to be empty: %s', async (_what, shape) => {
    // Also where the first answer was in order.
    let asked = 0;
    const later: PostgresClient = {
      query: () => Promise.resolve(asked++ === 0 ? answer(OF_THESE_TABLES) : shape(ADMITTED)),
    };
    for (const client of [shaping(shape), later]) {
      const store = postgresStore(client, { logger });
      const letters = postgresDeadLetters(client);
      for (const call of [
        ...[() => store.admit(claim), () => store.complete('event', 't')],
        ...[() => store.release('event', 't'), () => store.extend('event', 't', 5)],
        ...[() => store.reopen!('event'), () => store.loadCursor!('a')],
        ...[() => store.saveCursor!('a', 'b'), () => store.sweep()],
        ...[() => letters.list(), () => letters.get('a'), () => letters.count()],
        ...[() => letters.claim('a', { token: 't', leaseMs: 5 }), () => letters.settle('a', 't')],
      ])
        await expect(call()).rejects.toThrow(
          'The Postgres client did not return a row with a single text.',
        );
    }
  });

  it.each<[string, unknown]>([
    ['a status that is none', { status: 'toString', attempt: 1 }],
    ['no attempt', { status: 'admitted' }],
    ['an attempt as a text', { status: 'admitted', attempt: '1' }],
    ['attempt 0', { status: 'admitted', attempt: 0 }],
    ['half an attempt', { status: 'admitted', attempt: 1.5 }],
    ['a list', ['admitted', 1]],
    ['yes', true],
    ['null', null],
  ])('to a claim is not: %s', async (_what, value) => {
    await expect(postgresStore(shaping(answer, value), { logger }).admit(claim)).rejects.toThrow(
      'Postgres returned an unexpected answer',
    );
  });

  it.each([null, {}, { status: 'yes' }, { status: 'admitted' }, [], 'admitted'])(
    'that is none gives 503, and no handler runs: %j',
    async (value) => {
      const secret = generateSecret();
      const handler = jest.fn();
      const receiver = createReceiver({
        ...{ secret, logger, store: postgresStore(shaping(answer, value), { logger }) },
        on: { 'call:completed': handler },
      });
      const body = Buffer.from(callBody('call-1'));
      const { outcome, status } = await receiver.receive({
        headers: await sign({ secret, body }),
        body,
      });
      expect([outcome.outcome, status]).toEqual(['store-unavailable', 503]);
      expect(handler).not.toHaveBeenCalled();
      await receiver.close();
    },
  );

  it.each([null, 1, 'true', {}, []])('to a yes-or-no is not: %j', async (value) => {
    const store = postgresStore(shaping(answer, value), { logger });
    for (const call of [() => store.extend('event', 't', 5), () => store.reopen!('event')])
      await expect(call()).rejects.toThrow('Postgres returned an unexpected answer');
  });
});

describe('the version of the tables', () => {
  const missing = () => Object.assign(new Error('no such relation'), { code: '42P01' });

  /** Tables that `migrate()` makes, of a version. */
  function tables(version: number, found = 0) {
    const texts: string[] = [];
    let now = found;
    const client: PostgresClient = {
      query(text) {
        texts.push(text);
        if (text.startsWith('DO')) now ||= version;
        else if (isVersion(text)) {
          if (now === 0 && text.includes('schema_version')) return Promise.reject(missing());
          return Promise.resolve(answer({ version: now, id: 'a', encoding: 'UTF8' }));
        }
        return Promise.resolve(answer(ADMITTED));
      },
    };
    return { client, texts };
  }

  it('is told by migrate(), before and now, of the store and of the dead letters', async () => {
    const { client, texts } = tables(1);
    expect(await postgresStore(client, { schema: 'mine' }).migrate()).toEqual({ from: 0, to: 1 });
    expect(texts).toContain(migrationSql({ schema: 'mine' }));
    expect(await postgresDeadLetters(client, { schema: 'mine' }).migrate()).toEqual({
      ...{ from: 1, to: 1 },
    });
  });

  it('is asked for once', async () => {
    const { client, texts } = tables(1, 1);
    const store = postgresStore(client, { logger });
    await store.admit(claim);
    await store.admit(claim);
    await store.close();
    expect(texts.filter(isVersion)).toHaveLength(1);
  });

  it.each(['by its code', 'in the error of another client'])(
    'is missing where there are no tables, and the error says what to do: %s',
    async (how) => {
      const error = how === 'by its code' ? missing() : new Error('x', { cause: missing() });
      const client: PostgresClient = {
        query: (text) =>
          text.includes('schema_version')
            ? Promise.reject(error)
            : Promise.resolve(answer({ encoding: 'UTF8' })),
      };
      const say = 'Run `await store.migrate()` once.';
      await expect(postgresStore(client, { logger }).admit(claim)).rejects.toThrow(say);
      await expect(postgresStore(client, { logger }).loadCursor!('a')).rejects.toThrow(say);
      await expect(postgresDeadLetters(client).list()).rejects.toThrow(say);
    },
  );

  it('of a newer release is refused, and nothing is done to its tables', async () => {
    const { client, texts } = tables(1, 2);
    const store = postgresStore(client, { logger });
    const refused = {
      code: 'invalid-options',
      message: expect.stringContaining('have version 2, which a newer release'),
    };
    await expect(store.admit(claim)).rejects.toMatchObject(refused);
    await expect(store.migrate()).rejects.toMatchObject(refused);
    await expect(postgresDeadLetters(client).list()).rejects.toMatchObject(refused);
    expect(texts.every(isVersion)).toBe(true);
    expect(texts.some((text) => text.startsWith('DO'))).toBe(false);
  });

  it('of a row that this role can not see is told with what hides it', async () => {
    const hidden = { version: null, id: null, encoding: 'UTF8' };
    const client: PostgresClient = { query: () => Promise.resolve(answer(hidden)) };
    const told =
      /^The table mine\.schema_version has no row that this role can see\. Row level security may hide it: run ALTER TABLE mine\.schema_version DISABLE ROW LEVEL SECURITY/;
    const store = postgresStore(client, { schema: 'mine', logger });
    await expect(store.admit(claim)).rejects.toThrow(told);
    await expect(store.migrate()).rejects.toThrow(told);
    await expect(postgresDeadLetters(client, { schema: 'mine' }).count()).rejects.toThrow(told);
  });

  it('is not known while the client fails, and its error is passed on', async () => {
    const error = Object.assign(new Error('down 42P01'), { code: '08006' });
    const store = postgresStore({ query: () => Promise.reject(error) });
    await expect(store.admit(claim)).rejects.toBe(error);
    await expect(store.migrate()).rejects.toBe(error);
  });
});

type Statement = string | { name: string; text: string; values?: unknown[] };

/** A Pool of pg, as far as it is told by its count and its methods. */
function pool(refusal?: Error) {
  const query = jest.fn((statement: Statement, values?: unknown[]) => {
    if (typeof statement !== 'string' && refusal !== undefined) return Promise.reject(refusal);
    const text = typeof statement === 'string' ? statement : statement.text;
    return Promise.resolve(
      answer(
        isVersion(text)
          ? OF_THESE_TABLES
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

  it('is not for batches, whose plan depends on the tables', async () => {
    const { client, query } = pool();
    const store = postgresStore(client, { logger });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => store.complete(key, 't')));
    expect(named(query)).toEqual([undefined, undefined]);
  });

  it.each<[string, object]>([
    ['another client', { totalCount: undefined }],
    ['a subclass with a query() of its own, which may take a text only', { connect: undefined }],
  ])('is not for %s', async (_what, more) => {
    const { client, query } = pool();
    const Parent = more as { connect?: unknown };
    // A method that another class owns.
    if ('connect' in Parent) Reflect.deleteProperty(client, 'connect');
    else Object.assign(client, more);
    await postgresStore(client, { logger }).extend('a', 't', 5);
    expect(named(query)).toEqual([undefined, undefined]);
  });

  it.each(['26000', '42P05'])(
    'is run without its name where the connection is another one (%s), as are all after it',
    async (code) => {
      const { client, query } = pool(Object.assign(new Error('not prepared'), { code }));
      const store = postgresStore(client, { logger });
      for (const key of ['a', 'b']) expect(await store.extend(key, 't', 5)).toBe(true);
      expect(named(query).map((name) => name !== undefined)).toEqual([false, true, false, false]);
    },
  );

  it.each([{ code: '23505' }, {}])('is not run again after another error: %p', async (more) => {
    const error = Object.assign(new Error('down'), more);
    const { client, query } = pool(error);
    const store = postgresStore(client, { logger });
    await expect(store.extend('a', 't', 5)).rejects.toBe(error);
    await expect(store.extend('a', 't', 5)).rejects.toBe(error);
    expect(named(query).filter((name) => name !== undefined)).toHaveLength(2);
  });
});

describe('the statement of a migration', () => {
  it.each([undefined, 'mine'])('creates all tables in their schema: %p', (schema) => {
    const text = schema === undefined ? migrationSql() : migrationSql({ schema });
    const name = schema ?? 'call_webhooks';
    expect(text).toContain(`CREATE SCHEMA ${name};`);
    for (const table of ['webhook_ids', 'events', 'groups', 'cursors', 'dead_letters'])
      expect(text).toContain(`CREATE TABLE ${name}.${table} (`);
    // One statement, to be atomic with every client.
    expect(text).toMatch(/^DO \$migration\$\nBEGIN\n[^]*END\n\$migration\$$/);
    expect(text.split('$migration$')).toHaveLength(3);
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
