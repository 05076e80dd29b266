import * as runner from '@jest/globals';
import { describe, expect, it } from '@jest/globals';
import { twoNamesTest } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import { storeContractTests } from '@call-webhooks/store-tests';
import postgres from 'postgres';
import { postgresDeadLetters, postgresStore, type PostgresClient } from '../src/index.ts';
import { freshSchema, openPool, openTestStore, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

withPostgres('postgresStore', () => {
  const test = usePostgres();

  storeContractTests(runner, {
    name: 'a Pool of pg',
    open: () => openTestStore(test.pool),
  });
  storeContractTests(runner, {
    name: "rows as Neon's HTTP driver gives them",
    open: () =>
      openTestStore({
        query: async (text, values) => (await test.pool.query(text, values)).rows as unknown[],
      }),
  });

  storeContractTests(runner, {
    name: 'postgres.js, as in the docs',
    async open() {
      const sql = postgres(test.server.url, { onnotice: () => undefined });
      const query = (text: string, values: unknown[] = []) => sql.unsafe(text, values as never[]);
      const opened = await openTestStore({ query });
      return {
        ...opened,
        async close() {
          await opened.close();
          await sql.end();
        },
      };
    },
  });

  twoNamesTest(async (schema) => {
    const store = postgresStore(test.pool, { schema });
    await store.migrate();
    return { store, deadLetters: postgresDeadLetters(test.pool, { schema }) };
  });

  const claim = (number: number, more: Partial<Claim> = {}): Claim => ({
    webhookId: `webhook-${String(number)}`,
    replayUntil: Date.now() + 600_000,
    key: 'event-1',
    leaseMs: 60_000,
    token: `token-${String(number)}`,
    ...more,
  });

  /** A client that counts its statements. */
  function counting() {
    const texts: string[] = [];
    const client: PostgresClient = {
      query: (text, values) => {
        texts.push(text);
        return test.pool.query(text, values);
      },
    };
    return { client, texts };
  }

  it('makes one round trip a call', async () => {
    const { client, texts } = counting();
    const store = postgresStore(client, { schema: freshSchema() });
    await store.migrate();
    await store.admit(claim(0, { key: undefined })); // with the first claim old rows are swept, too
    texts.length = 0;
    await store.admit(claim(1));
    expect(texts).toHaveLength(1);
    await store.extend('event-1', 'token-1', 60_000);
    await store.complete('event-1', 'token-1');
    await store.release('event-1', 'token-1');
    expect(texts).toHaveLength(4);
    texts.length = 0;
    await store.admit(claim(2, { key: 'event-2', group: 'call' }));
    await store.extend('event-2', 'token-2', 60_000);
    await store.complete('event-2', 'token-2');
    expect(texts).toHaveLength(3);
  });

  describe('racing machines', () => {
    it('has one winner in each of 8 rounds of 200 claims over 20 connections', async () => {
      const store = postgresStore(test.pool, { schema: freshSchema() });
      await store.migrate();
      for (let round = 1; round <= 8; round++) {
        const admissions = await Promise.all(
          Array.from({ length: 200 }, (_, number) =>
            store.admit(claim(round * 1_000 + number, { leaseMs: 60_000 })),
          ),
        );
        const won = admissions.flatMap((admission, number) =>
          admission.status === 'admitted' ? [{ number, attempt: admission.attempt }] : [],
        );
        expect(won).toEqual([{ number: expect.any(Number), attempt: round }]);
        const token = `token-${String(round * 1_000 + won[0]!.number)}`;
        expect(await store.release('event-1', token)).toBe(true);
      }
    });

    it('takes a claim that arrives twice at once as one', async () => {
      const store = postgresStore(test.pool, { schema: freshSchema() });
      await store.migrate();
      const once = claim(1);
      const admissions = await Promise.all([once, once, once].map((same) => store.admit(same)));
      expect(admissions).toEqual([1, 2, 3].map(() => ({ status: 'admitted', attempt: 1 })));
    });

    it('gives one webhook id to one of 50 claims', async () => {
      const store = postgresStore(test.pool, { schema: freshSchema() });
      await store.migrate();
      const admissions = await Promise.all(
        Array.from({ length: 50 }, (_, number) =>
          store.admit(claim(number, { webhookId: 'the-same', key: `event-${String(number)}` })),
        ),
      );
      expect(admissions.filter(({ status }) => status === 'admitted')).toHaveLength(1);
      expect(admissions.filter(({ status }) => status === 'replayed')).toHaveLength(49);
    });

    it('migrates from ten machines at once, and again', async () => {
      const schema = freshSchema();
      const stores = Array.from({ length: 10 }, () => postgresStore(test.pool, { schema }));
      await Promise.all(stores.map((store) => store.migrate()));
      await stores[0]!.admit(claim(1));
      await stores[0]!.migrate();
      expect(await stores[1]!.admit(claim(2))).toEqual({ status: 'in-progress' });
    });

    it('migrates as a role that may create nothing, when all is there', async () => {
      const schema = freshSchema();
      await postgresStore(test.pool, { schema }).migrate();
      await test.pool
        .query(`CREATE ROLE ${schema} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${schema};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`);
      const limited = openPool(test.server.url.replace('postgres@', `${schema}@`));
      const store = postgresStore(limited, { schema });
      await store.migrate();
      expect((await store.admit(claim(1))).status).toBe('admitted');
      await store.close();
      await limited.end();
    });
  });

  it('removes old rows in steps, and nothing else', async () => {
    const { store, schema, advance } = await openTestStore(test.pool);
    await test.pool.query(`INSERT INTO ${schema}.webhook_ids
      SELECT 'old-' || n, 't', now() - interval '1 second' FROM generate_series(1, 2500) AS n`);
    const live = claim(1);
    await store.admit(live); // sweeps, too
    const ids = async () =>
      (await test.pool.query(`SELECT id FROM ${schema}.webhook_ids`)).rows as unknown[];
    // A sweep skips the rows that the sweep of `admit` has locked: the two end in either order.
    while ((await ids()).length > 1) await store.sweep();
    expect(await ids()).toEqual([{ id: live.webhookId }]);
    await store.complete('event-1', live.token);
    await advance(86_400_000 - 60_000);
    expect(await store.sweep()).toBe(1); // the webhook id
    expect(await store.admit(claim(2))).toEqual({ status: 'duplicate' });
    await advance(121_000);
    expect(await store.admit(claim(3))).toEqual({ status: 'admitted', attempt: 1 });
  });

  it.each(['webhook_ids', 'events', 'groups'])('is down without the table %s', async (table) => {
    const { store, schema } = await openTestStore(test.pool);
    const receiver = createReceiver({ secret: generateSecret(), store });
    expect(await receiver.health()).toMatchObject({ ok: true, store: { status: 'up' } });
    await test.pool.query(`DROP TABLE ${schema}.${table}`);
    const error = expect.stringContaining(`"${schema}.${table}" does not exist`) as unknown;
    expect(await receiver.health()).toMatchObject({ ok: false, store: { status: 'down', error } });
  });

  it('says what to do when the tables are missing, and which schema names it takes', async () => {
    const store = postgresStore(test.pool, { schema: freshSchema() });
    await expect(store.admit(claim(1))).rejects.toThrow('await store.migrate()');
    const { store: health } = await createReceiver({ secret: generateSecret(), store }).health();
    expect(health.error).toContain('Run `await store.migrate()` once.');
    for (const schema of ['', 'Calls', 'a b', 'a"b', 'x'.repeat(64)])
      expect(() => postgresStore(test.pool, { schema })).toThrow('schema: expected');
  });
});
