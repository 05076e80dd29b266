import { describe, expect, it } from '@jest/globals';
import { deadLetter, unique } from '@call-webhooks/contract-tests';
import pg from 'pg';
import postgres from 'postgres';
import { postgresDeadLetters, postgresStore, type PostgresClient } from '../src/index.ts';
import { freshSchema, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

/** Parses nothing, or everything into something else. */
const parsing = (parse: (text: string) => unknown): pg.CustomTypesConfig => ({
  getTypeParser: (oid: number) => (oid === 25 ? String : parse),
});

/** A client that was told what to return, and how to end it. */
type Open = (url: string) => { client: PostgresClient; end: () => Promise<unknown> };

const ofPool =
  (options: pg.PoolConfig, Pool = pg.Pool): Open =>
  (connectionString) => {
    const pool = new Pool({ connectionString, ...options });
    return { client: pool, end: () => pool.end() };
  };

const ofPostgresJs =
  (options: object): Open =>
  (url) => {
    const sql = postgres(url, { onnotice: () => undefined, ...options });
    return {
      client: { query: (text, values = []) => sql.unsafe(text, values as never[]) },
      end: () => sql.end(),
    };
  };

/** A subclass whose `query()` takes a text, and adds an option of its own. */
class PoolOfLists extends pg.Pool {
  override query(text: unknown, values?: unknown): never {
    if (typeof text !== 'string') throw new TypeError('expected a text');
    return super.query({ text, values: values as never[], rowMode: 'array' }) as never;
  }
}

/** A subclass that gives the rows alone, with names in upper case. */
class PoolOfRows extends pg.Pool {
  override async query(text: unknown, values?: unknown): Promise<never> {
    const { rows } = await super.query<Record<string, unknown>>(text as string, values as never[]);
    const upper = (row: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value]));
    return rows.map(upper) as never;
  }
}

const CLIENTS: Record<string, Open> = {
  'pg that leaves everything as text': ofPool({ types: parsing((text) => text) }),
  'pg with numbers as bigint': ofPool({ types: parsing((text) => BigInt(text)) }),
  'pg that wraps all values': ofPool({ types: parsing((text) => ({ text })) }),
  'pg in binary': ofPool({ binary: true } as pg.PoolConfig),
  'a subclass with rows as lists': ofPool({}, PoolOfLists),
  'a subclass that gives rows alone': ofPool({}, PoolOfRows),
  'postgres.js in camel case': ofPostgresJs({ transform: postgres.camel }),
  'postgres.js in Pascal case': ofPostgresJs({ transform: postgres.toPascal }),
  'postgres.js with other types': ofPostgresJs({
    types: {
      numbers: { to: 20, from: [20, 23, 701, 16, 1184], serialize: String, parse: BigInt },
    },
  }),
};

withPostgres('postgresStore on a client that was told what to return', () => {
  const test = usePostgres();

  describe.each(Object.entries(CLIENTS))('%s', (_name, open) => {
    it('decides as on any other client', async () => {
      const { client, end } = open(test.server.url);
      const schema = freshSchema();
      const store = postgresStore(client, { schema });
      expect(await store.migrate()).toEqual({ from: 0, to: 1 });
      expect(await store.migrate()).toEqual({ from: 1, to: 1 });
      const claim = (key: string) => ({
        ...{ webhookId: unique('webhook'), replayUntil: Date.now() + 600_000, key },
        ...{ leaseMs: 60_000, token: unique('token') },
      });
      const first = claim('a');
      expect(await store.admit(first)).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store.admit({ ...first, token: 'other' })).toEqual({ status: 'replayed' });
      expect(await store.admit(claim('a'))).toEqual({ status: 'in-progress' });
      const two = await Promise.all(['b', 'c'].map((key) => store.admit(claim(key))));
      expect(two).toEqual([1, 2].map(() => ({ status: 'admitted', attempt: 1 })));
      expect(await store.extend('a', first.token, 60_000)).toBe(true);
      expect(await store.extend('a', 'other', 60_000)).toBe(false);
      expect(await store.complete('a', first.token)).toBe(true);
      expect(await store.complete('a', first.token)).toBe(false);
      expect(await store.admit(claim('a'))).toEqual({ status: 'duplicate' });
      expect(await store.loadCursor!('page')).toBeUndefined();
      await store.saveCursor!('page', '42');
      expect(await store.loadCursor!('page')).toBe('42');
      await store.close();
      expect(await store.sweep()).toBe(0);

      const letters = postgresDeadLetters(client, { schema });
      expect(await letters.count()).toBe(0);
      await letters.put(deadLetter({ key: 'a', failedAt: new Date(1_700_000_000_123) }));
      const [letter] = (await letters.list()).letters;
      expect(letter).toMatchObject({ key: 'a', failedAt: new Date(1_700_000_000_123) });
      const claimed = await letters.claim(letter!.id, { token: 't', leaseMs: 60_000 });
      expect(Number(claimed!.claimedUntil) - Date.now()).toBeGreaterThan(30_000);
      expect(await letters.claim(letter!.id, { token: 'u', leaseMs: 60_000 })).toBeUndefined();
      expect(await letters.count()).toBe(1);
      await end();
    });
  });

  it.each<[string, Open]>([
    ['parses texts', ofPool({ types: { getTypeParser: () => JSON.parse } })],
    ['gives bytes', ofPool({ types: { getTypeParser: () => Buffer.from } })],
    ['prepares values', ofPostgresJs({ transform: { value: { from: () => null } } })],
  ])('refuses one that %s, at its first call', async (_what, open) => {
    const { client, end } = open(test.server.url);
    const schema = freshSchema();
    await postgresStore(test.pool, { schema }).migrate();
    const store = postgresStore(client, { schema });
    for (const call of [() => store.migrate(), () => store.complete('a', 't')])
      await expect(call()).rejects.toThrow('did not return a row with a single text');
    await end();
  });
});
