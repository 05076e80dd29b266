import * as runner from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { completeInContractTests } from '@call-webhooks/store-tests';
import { neon } from '@neondatabase/serverless';
import { drizzle as drizzleOnNeon } from 'drizzle-orm/neon-http';
import { drizzle as drizzleOnPGlite } from 'drizzle-orm/pglite';
import { postgresStore, type PostgresTransaction } from '../../src/index.ts';
import { completeInTests } from '../complete-in.ts';
import { openWithEffects } from '../open-with-effects.ts';
import { CLIENTS, effectsTable } from './effects.ts';

completeInTests(CLIENTS);

let db: PGlite;
beforeAll(async () => {
  db = await PGlite.create();
});
afterAll(() => db.close());

completeInContractTests(runner, {
  name: 'Drizzle on PGlite',
  open: () =>
    openWithEffects(db, (schema) => {
      const root = drizzleOnPGlite(db);
      return {
        client: root,
        transact: (work) =>
          root.transaction((tx) =>
            work({ tx, write: (effect) => tx.insert(effectsTable(schema)).values({ effect }) }),
          ),
        close: () => Promise.resolve(),
      };
    }),
});

it('Drizzle on Neon over HTTP has no transaction, and is refused', async () => {
  const store = postgresStore({ query: () => Promise.reject(new Error('not called')) });
  const tx = drizzleOnNeon(neon('postgres://user:password@host.test/db'));
  const completing = store.completeIn(tx as unknown as PostgresTransaction, 'key', 'token');
  await expect(completing).rejects.toMatchObject({
    code: 'invalid-options',
    message: expect.stringContaining('Neon over HTTP'),
  });
});
