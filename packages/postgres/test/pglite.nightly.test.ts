import * as runner from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll } from '@jest/globals';
import {
  completeInContractTests,
  deadLettersContractTests,
  storeContractTests,
} from '@call-webhooks/store-tests';
import { insertInto, openWithEffects } from './open-with-effects.ts';
import { openTestDeadLetters, openTestStore } from './support.ts';

// Postgres in this very process: no server is needed. Each suite has a schema of its own.
let db: PGlite;
beforeAll(async () => {
  db = await PGlite.create();
});
afterAll(() => db.close());

storeContractTests(runner, {
  name: 'postgresStore on PGlite',
  open: () => openTestStore(db),
});

deadLettersContractTests(runner, {
  name: 'postgresDeadLetters on PGlite',
  open: () => openTestDeadLetters(db),
});

completeInContractTests(runner, {
  name: "PGlite, with the store's own connection",
  open: () =>
    openWithEffects(db, (schema) => ({
      client: db,
      transact: (work) =>
        db.transaction((tx) =>
          work({ tx, write: (effect) => tx.query(insertInto(schema), [effect]) }),
        ),
      close: () => Promise.resolve(),
    })),
});
