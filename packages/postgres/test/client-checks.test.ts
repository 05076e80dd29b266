import { inspect } from 'node:util';
import * as neon from '@neondatabase/serverless';
import { describe, expect, it } from '@jest/globals';
import type { Claim } from '@call-webhooks/core/stores';
import pg from 'pg';
import {
  createPgBossWorker,
  type PgBossClient,
  pgBossDeadJobs,
  pgBossQueue,
  type PostgresClient,
  postgresDeadLetters,
  postgresStore,
} from '../src/index.ts';
import { answer, asksForVersion } from './recording-client.ts';

const claim: Claim = {
  ...{ webhookId: 'w', replayUntil: Date.now() + 600_000, leaseMs: 60_000 },
  ...{ key: 'event', token: 't' },
};
const logger = { warn: () => undefined, error: () => undefined };

const some = () => Promise.resolve();
const refusal = (mistake: string) =>
  expect.objectContaining({
    code: 'invalid-options',
    message: expect.stringContaining(mistake),
  }) as unknown as Error;

describe('what is no Postgres client', () => {
  const any = 'expected one with query(text, values), such as a Pool of pg';
  const single =
    'this is one connection, which does not reconnect once it is lost. Pass a Pool of pg, new Pool({ connectionString }). To create the tables with a single connection, run migrationSql() on it';
  const transaction = 'this is a transaction, or one connection that may be in one. Pass the Pool';
  const orm = 'this is an ORM, whose query() returns no plain rows. Pass a Pool of pg';

  it.each<[string, unknown, string]>([
    ['nothing', undefined, any],
    ['null', null, any],
    ['a URL', 'postgres:///calls', any],
    [
      'a promise of a client',
      Promise.resolve({ query: some }),
      'this is a promise. Await it first',
    ],
    [
      'postgres.js',
      Object.assign(() => undefined, { unsafe: some }),
      'this is postgres.js. Pass { query: (text, values) => sql.unsafe(text, values) }',
    ],
    ['Drizzle', { query: {}, select: some }, any],
    ['a Client of pg', new pg.Client(), single],
    ['a Client of Neon', new neon.Client('postgres://a@localhost/a'), single],
    ['a Client of a subclass', new (class extends pg.Client {})(), single],
    [
      'a reserved connection of postgres.js',
      Object.assign(() => undefined, { unsafe: some, release: some }),
      'this is one connection of postgres.js, which does not reconnect once it is lost. Pass { query: (text, values) => sql.unsafe(text, values) } with the sql of postgres()',
    ],
    [
      'a transaction of postgres.js',
      Object.assign(() => undefined, { unsafe: some, savepoint: some }),
      'this is one connection of postgres.js, which does not reconnect once it is lost. Pass { query: (text, values) => sql.unsafe(text, values) } with the sql of postgres()',
    ],
    ['a transaction of PGlite', { query: some, exec: some, rollback: some }, transaction],
    ['a QueryRunner of TypeORM', { query: some, isTransactionActive: false }, transaction],
    ['a manager of TypeORM in a transaction', { query: some, queryRunner: {} }, transaction],
    ['a DataSource of TypeORM', { query: some, createQueryRunner: some }, orm],
    ['Sequelize', { query: some, define: some, authenticate: some }, orm],
    [
      'Prisma',
      { query: some, $queryRawUnsafe: some },
      'this is Prisma. Pass a Pool of pg, or { query: (text, values = []) => prisma.$queryRawUnsafe(text, ...values) }',
    ],
  ])('is refused at once, with what to pass: %s', (_name, client, mistake) => {
    for (const create of [postgresStore, postgresDeadLetters])
      expect(() => create(client as PostgresClient)).toThrow(refusal(`${mistake}.`));
  });

  it.each<[string, object]>([
    ['unsafe(), too: Neon over HTTP', { query: some, unsafe: some }],
    ['exec(): PGlite', { query: some, exec: some }],
    ['totalCount: a Pool', new pg.Pool()],
    ['a manager of TypeORM outside of a transaction', { query: some, queryRunner: undefined }],
    ['define()', { query: some, define: some }],
    ['authenticate()', { query: some, authenticate: some }],
  ])('is not one with %s', (_what, client) => {
    expect(() => postgresStore(client as PostgresClient)).not.toThrow();
  });
});

describe('what is no pg-boss', () => {
  const METHODS = [
    ...['createQueue', 'send', 'getJobById', 'getQueue', 'fetch', 'complete', 'fail', 'deleteJob'],
    'getDb',
  ];
  const boss = Object.fromEntries(METHODS.map((name) => [name, some])) as unknown as PgBossClient;
  const creators = [
    ...[pgBossQueue, pgBossDeadJobs],
    (of: PgBossClient) => createPgBossWorker(of, {}),
  ];

  it.each(METHODS)('is refused without %s()', (name) => {
    for (const create of creators) {
      const mistake = `it has no ${name}(). Pass an instance of pg-boss 10 or 12.`;
      expect(() => create({ ...boss, [name]: undefined })).toThrow(refusal(mistake));
      expect(() => create({ ...boss, [name]: 'a text' })).toThrow(refusal(mistake));
    }
  });

  it.each([undefined, null, 'postgres:///calls', 5])('is refused if it is %p', (what) => {
    expect(() => pgBossQueue(what as never)).toThrow(refusal('it has no createQueue()'));
  });

  it('is refused by its name if it is pg-boss 11, and 12 is not', () => {
    const eleven = { ...boss, supervise: some };
    for (const create of creators) {
      expect(() => create(eleven)).toThrow(refusal('this is pg-boss 11'));
      expect(() => create(eleven)).toThrow(refusal('npm install pg-boss@12'));
    }
    const twelve = { ...eleven, findJobs: some };
    for (const supported of [boss, twelve]) expect(() => pgBossQueue(supported)).not.toThrow();
  });
});

describe('a connection URL', () => {
  const url = 'postgres://app:se/cret@localhost/calls';
  const invalid = () =>
    Object.assign(new TypeError(`Invalid URL ${url}`), { code: 'ERR_INVALID_URL', input: url });
  it.each<[string, PostgresClient]>([
    ['pg', new pg.Pool({ connectionString: url })],
    ['a client that shows it', { query: () => Promise.reject(invalid()) }],
  ])(
    'that can not be parsed is told with its fix, and without the password: %s',
    async (_name, client) => {
      const store = postgresStore(client, { logger });
      for (const call of [() => store.admit(claim), () => store.migrate(), () => store.ping()]) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(String(error)).toContain('a slash in a password is %2F');
        expect(inspect(error)).not.toContain('cret');
      }
    },
  );
});

describe('the encoding of the database', () => {
  it.each(['LATIN1', 'SQL_ASCII', 'WIN1252'])('is refused if it is %s', async (encoding) => {
    const texts: string[] = [];
    const client: PostgresClient = {
      query(text) {
        texts.push(text);
        return Promise.resolve(answer({ version: 1, id: 'a', encoding }));
      },
    };
    const refused = {
      code: 'invalid-options',
      message: expect.stringContaining(`The database has the encoding ${encoding}`),
    };
    const store = postgresStore(client, { logger });
    await expect(store.migrate()).rejects.toMatchObject(refused);
    await expect(store.admit(claim)).rejects.toMatchObject(refused);
    await expect(postgresDeadLetters(client).migrate()).rejects.toMatchObject(refused);
    expect(texts.every(asksForVersion)).toBe(true);
  });
});
