import { describe, expect, it } from '@jest/globals';
import {
  createPgBossWorker,
  migrationSql,
  pgBossDeadJobs,
  pgBossQueue,
  postgresStore,
  type PgBossClient,
  type PostgresClient,
} from '../src/index.ts';

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
