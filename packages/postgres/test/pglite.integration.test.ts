import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll } from '@jest/globals';
import {
  completeInContractTests,
  deadLettersContractTests,
  storeContractTests,
} from '@call-webhooks/contract-tests';
import { drizzle } from 'drizzle-orm/pglite';
import {
  effectsTable,
  insertInto,
  openWithEffects,
  type Transactions,
} from './open-with-effects.ts';
import { openTestDeadLetters, openTestStore } from './support.ts';

// Postgres in this very process: no server is needed. Each suite has a schema of its own.
let db: PGlite;
beforeAll(async () => {
  db = await PGlite.create();
});
afterAll(() => db.close());

storeContractTests({ name: 'postgresStore on PGlite', open: () => openTestStore(db) });

deadLettersContractTests({
  name: 'postgresDeadLetters on PGlite',
  open: () => openTestDeadLetters(db),
});

/** Transactions on the store's own PGlite, which has one connection. */
const CLIENTS: Record<string, (schema: string) => Transactions> = {
  PGlite: (schema) => ({
    root: db,
    transact: (work) =>
      db.transaction((tx) =>
        work({ tx, write: (effect) => tx.query(insertInto(schema), [effect]) }),
      ),
    close: () => Promise.resolve(),
  }),
  'Drizzle on PGlite'(schema) {
    const root = drizzle(db);
    return {
      root,
      transact: (work) =>
        root.transaction((tx) =>
          work({ tx, write: (effect) => tx.insert(effectsTable(schema)).values({ effect }) }),
        ),
      close: () => Promise.resolve(),
    };
  },
};

for (const [name, open] of Object.entries(CLIENTS))
  completeInContractTests({ name, open: () => openWithEffects(db, open) });
