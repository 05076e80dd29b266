import { expect, it } from '@jest/globals';
import { unique } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import { postgresStore, type PostgresClient } from '../src/index.ts';
import { freshSchema, openPool, openTestStore, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

const ADMITTED = { status: 'admitted', attempt: 1 };

const claim = (key = unique('event')): Claim & { key: string } => ({
  webhookId: unique('webhook'),
  replayUntil: Date.now() + 600_000,
  key,
  leaseMs: 60_000,
  token: unique('token'),
});

withPostgres('the calls of one turn, on postgresStore', () => {
  const test = usePostgres();

  it('are one statement for the claims, and one for the commits', async () => {
    const texts: string[] = [];
    const store = postgresStore(
      {
        query: (text, values) => {
          texts.push(text);
          return test.pool.query(text, values);
        },
      },
      { schema: freshSchema() },
    );
    await store.migrate();
    await store.admit(claim());
    await store.close(); // the first claim sweeps old rows in the background
    texts.length = 0;
    const claims = Array.from({ length: 20 }, () => claim());
    await Promise.all(claims.map((one) => store.admit(one)));
    await Promise.all(claims.map(({ key, token }) => store.complete(key, token)));
    expect(texts).toHaveLength(2);
  });

  /** As Prisma does. */
  const wrappingErrors: PostgresClient = {
    query: (text, values) =>
      test.pool.query(text, values).catch((error: unknown) => {
        const { code } = error as { code?: string };
        throw Object.assign(new Error('Raw query failed'), { code: 'P2010', meta: { code } });
      }),
  };

  it.each([
    ['a Pool of pg', (): PostgresClient => test.pool],
    ['a client that wraps errors', () => wrappingErrors],
  ])('do not wait for the event that a transaction of a user has: %s', async (_name, client) => {
    const { store, schema } = await openTestStore(client());
    const [first, second] = [claim(), claim()];
    await store.admit(first);
    await store.admit(second);
    const tx = await test.pool.connect();
    await tx.query('BEGIN');
    await tx.query(`INSERT INTO ${schema}.cursors VALUES ('effect', 'of the handler')`);
    expect(await store.completeIn(tx, first.key, first.token)).toBe(true);
    const waiting = [store.admit(claim(first.key)), store.complete(first.key, first.token)];
    const others = [store.admit(claim()), store.complete(second.key, second.token)];
    // The transaction ends only after these.
    expect(await Promise.all(others)).toEqual([ADMITTED, true]);
    await tx.query('COMMIT');
    tx.release();
    expect((await Promise.all(waiting))[1]).toBe(false);
    expect(await store.admit(claim(first.key))).toEqual({ status: 'duplicate' });
  });

  it('end when two machines write the same events in different orders', async () => {
    const { store, schema } = await openTestStore(test.pool);
    const other = postgresStore(test.pool, { schema });
    for (let round = 0; round < 20; round++) {
      const claims = Array.from({ length: 30 }, () => claim());
      const again = claims.map(({ key }) => claim(key)).reverse();
      const both = await Promise.all([
        Promise.all(claims.map((one) => store.admit(one))),
        Promise.all(again.map((one) => other.admit(one))),
      ]);
      const won = both.flat().filter(({ status }) => status === 'admitted');
      expect(won).toHaveLength(30);
    }
  });

  it('work on a pooler that forgets prepared statements', async () => {
    const pool = openPool(test.server.url, { max: 1, query_timeout: 20_000 });
    const store = postgresStore(pool, { schema: freshSchema() });
    await store.migrate();
    expect(await store.admit(claim())).toEqual(ADMITTED);
    // The first claim sweeps old rows in the background, with a statement that is prepared then.
    await store.close();
    const names = async () => (await pool.query('SELECT 1 FROM pg_prepared_statements')).rowCount;
    expect(await names()).toBeGreaterThan(0);
    await pool.query('DEALLOCATE ALL');
    for (let i = 0; i < 3; i++) expect(await store.admit(claim())).toEqual(ADMITTED);
    expect(await names()).toBe(0);
    await pool.end();
  });
});
